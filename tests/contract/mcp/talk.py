"""The official client, and bare messages for what no client would send."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx
from mcp import Client
from mcp.types import CallToolResult, Implementation

Mode = Literal["legacy", "2026-07-28"]
MODES: tuple[Mode, ...] = ("legacy", "2026-07-28")
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
MODERN = "2026-07-28"


@asynccontextmanager
async def connected(url: str, mode: Mode, *, name: str = "cursor-vscode") -> AsyncIterator[Client]:
    async with Client(f"{url}/mcp", mode=mode, client_info=Implementation(name=name, version="1")) as client:
        yield client


def text_of(result: CallToolResult) -> str:
    """The text of the one block that there is."""
    (block,) = result.content
    assert block.type == "text"
    return block.text


def a_request(method: str, params: Mapping[str, Any] | None = None, *, number: int | str = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, **({"params": dict(params)} if params else {})}


def an_initialize(version: str = "2025-06-18", *, name: str = "cursor-vscode") -> dict[str, Any]:
    info = {"name": name, "version": "1"}
    return a_request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": info})


def a_call(tool: str, arguments: Mapping[str, Any], *, token: str | None = None) -> dict[str, Any]:
    meta = {"_meta": {"progressToken": token}} if token else {}
    return a_request("tools/call", {"name": tool, "arguments": dict(arguments), **meta})


def as_modern(message: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The same request in the newer era, with the headers that mirror it."""
    params = dict(message.get("params") or {})
    params["_meta"] = {
        **params.get("_meta", {}),
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {"Mcp-Protocol-Version": MODERN, "Mcp-Method": message["method"]}
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    return {**message, "params": params}, headers


def post(url: str, message: object, **headers: str) -> httpx.Response:
    """One POST to /mcp; `headers` with underscores for hyphens."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    with httpx.Client(trust_env=False, timeout=30) as client:
        return client.post(f"{url}/mcp", content=json.dumps(message), headers={**ACCEPT, **given})


def result_of(response: httpx.Response) -> dict[str, Any]:
    """The result of an answer that came as JSON or as events."""
    if response.headers["content-type"].startswith("text/event-stream"):
        data = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: ")]
        answer = json.loads(data[-1])
    else:
        answer = response.json()
    result: dict[str, Any] = answer["result"]
    return result
