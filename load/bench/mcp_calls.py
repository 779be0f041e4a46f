"""MCP: processor time of the server for one call of a tool, against a bare FastAPI POST.

The protocol's share is measured with a tool that does nothing, behind the product's own layers (`plain_tool`);
the whole call with `recall` on a memory that holds nothing. Client and server are two processes, and only the
server's time counts.
"""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from load.bench.client import Client
from load.bench.measured import head, row
from load.bench.options import Options
from load.bench.processes import Running, bare, dormouse, plain_tool

CALLS, WARM_UP = 2_000, 100
_ACCEPT = {"accept": "application/json, text/event-stream"}
_CLIENT = {"name": "bench", "version": "1"}
_LEGACY, _MODERN = "2025-11-25", "2026-07-28"

Send = Callable[[Client], object]


async def run(options: Options) -> None:  # noqa: ARG001  every subject takes them
    head("one call", "ms of processor time", "against a bare POST")
    with tempfile.TemporaryDirectory() as folder, bare(Path(folder)) as server:
        least = _busy_ms(server, lambda client: client.post("/echo", {"text": "hello"}), CALLS)
    row("FastAPI POST", least, 1.0, digits=3)
    with tempfile.TemporaryDirectory() as folder, plain_tool(Path(folder)) as server:
        for name, send in _eras(server, "echo", {"text": "hello"}):
            spent = _busy_ms(server, send, CALLS)
            row(f"a tool that does nothing, {name}", spent, spent / least, digits=3)
    with tempfile.TemporaryDirectory() as folder, dormouse(Path(folder)) as server:
        for name, send in _eras(server, "recall", {"query": "Where is the key?"}):
            spent = _busy_ms(server, send, CALLS // 10)
            row(f"recall on an empty memory, {name}", spent, spent / least, digits=3)


def _eras(server: Running, tool: str, arguments: Mapping[str, Any]) -> list[tuple[str, Send]]:
    with Client(server.url) as client:
        given = {
            "protocolVersion": _LEGACY,
            "capabilities": {},
            "clientInfo": _CLIENT,
        }
        session = client.post("/mcp", _request("initialize", given), _ACCEPT).headers["mcp-session-id"]
    legacy = {**_ACCEPT, "mcp-protocol-version": _LEGACY, "mcp-session-id": session}
    modern = {**_ACCEPT, "mcp-protocol-version": _MODERN, "mcp-method": "tools/call", "mcp-name": tool}
    meta = {
        "io.modelcontextprotocol/protocolVersion": _MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": _CLIENT,
    }
    call = {"name": tool, "arguments": dict(arguments)}
    old, new = _request("tools/call", call), _request("tools/call", {**call, "_meta": meta})
    return [
        (_LEGACY, lambda client: client.post("/mcp", old, legacy)),
        (_MODERN, lambda client: client.post("/mcp", new, modern)),
    ]


def _request(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params)}


def _busy_ms(server: Running, send: Send, calls: int) -> float:
    with Client(server.url) as client:
        for _ in range(WARM_UP):
            send(client)
        before = server.busy_s()
        for _ in range(calls):
            send(client)
        return 1000 * (server.busy_s() - before) / calls
