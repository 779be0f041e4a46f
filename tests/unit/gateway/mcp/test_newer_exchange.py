"""The newer era: whatever is sent, the answer is the SDK's own, whoever of the two gave it."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server import Server, ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool
from starlette.types import ASGIApp, Receive, Scope, Send

from dormouse_gateway.mcp.newer_exchange import NewerExchange

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "a client", "version": "1"},
}
COMPARED_HEADERS = ("content-type", "content-length", "allow", "mcp-session-id", "cache-control")

Lines = list[tuple[str, str]]


async def _list_tools(_context: ServerRequestContext[Any, Any], _params: object) -> ListToolsResult:
    schema: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}}
    return ListToolsResult(tools=[Tool(name="echo", description="Says it again.", input_schema=schema)])


async def _call_tool(
    context: ServerRequestContext[Any, Any], params: CallToolRequestParams
) -> CallToolResult | dict[str, Any]:
    """What an answer can be, by the tool's name."""
    if params.name == "refuses":
        raise MCPError(
            code=int((params.arguments or {}).get("code", -32000)), message="No.", data={"why": None}
        )
    if params.name == "breaks":
        raise RuntimeError("an inner matter")
    if params.name == "is malformed":
        return {"content": 5}
    await context.session.report_progress(1.0, message="working")
    info = context.session.client_params.client_info.name if context.session.client_params else None
    text = json.dumps([params.name, params.arguments, info, context.protocol_version])
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content={"nothing": None, "text": (params.arguments or {}).get("text")},
        is_error=params.name == "fails",
    )


MIRRORED = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
SERVER: Server[Any] = Server(
    "test",
    version="1",
    get_tool_input_schema={"mirrors": MIRRORED}.get,
    on_list_tools=_list_tools,
    on_call_tool=_call_tool,  # type: ignore[arg-type]  # one of its answers is malformed on purpose
)


@dataclass
class Counted:
    """An application and how often it was asked."""

    app: ASGIApp
    times: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.times += 1
        await self.app(scope, receive, send)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str | None]
    body: str


@asynccontextmanager
async def both() -> AsyncIterator[tuple[Counted, ASGIApp]]:
    """The SDK's path, and ours in front of it."""
    manager = StreamableHTTPSessionManager(SERVER, stateless=True)
    async with manager.run():
        sdk = Counted(manager.asgi_app)
        yield sdk, RequestBodyLimitMiddleware(NewerExchange(SERVER, sdk), 1_000_000)


async def answer_of(app: ASGIApp, headers: Sequence[tuple[str, str]], body: bytes) -> Answer:
    request = httpx.Request("POST", "http://localhost/mcp", headers=list(headers), content=body)
    got = await httpx.ASGITransport(app).handle_async_request(request)
    await got.aread()
    return Answer(got.status_code, {name: got.headers.get(name) for name in COMPARED_HEADERS}, got.text)


def lines(method: str = "tools/call", name: str | None = "echo", *, without: Sequence[str] = ()) -> Lines:
    given = [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", VERSION),
        ("mcp-method", method),
        *([("mcp-name", name)] if name is not None else []),
    ]
    return [line for line in given if line[0] not in without]


def a_message(
    method: str = "tools/call", params: object = None, rest: Mapping[str, object] | None = None
) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params, **(rest or {})}).encode()


def a_call(name: object = "echo", arguments: object = None, meta: object = META, **rest: object) -> bytes:
    told = {"text": "hello"} if arguments is None else arguments
    return a_message(params={"name": name, "arguments": told, "_meta": meta}, rest=rest)


def without(key: str) -> dict[str, object]:
    return {name: value for name, value in META.items() if not name.endswith(key)}


PLAIN: dict[str, tuple[Lines, bytes]] = {
    "a call": (lines(), a_call()),
    "a call with a text for an id": (lines(), a_call(id="one")),
    "a call by a client without a name": (lines(), a_call(meta=without("clientInfo"))),
    "a call by a client with a malformed name": (
        lines(),
        a_call(meta={**META, "io.modelcontextprotocol/clientInfo": 7}),
    ),
    "a call with malformed capabilities": (
        lines(),
        a_call(meta={**META, "io.modelcontextprotocol/clientCapabilities": 7}),
    ),
    "a call with more than was asked for": (lines(), a_call(meta={**META, "more": [1]}, extra=True)),
    "a call of another writing": (lines(), a_call(arguments={"text": "Grüße 🐭 \u2028"})),
    "a call with half a character": (lines(), a_call(arguments={"text": "\ud800"})),
    "a call with numbers that JSON has not": (lines(), a_call(arguments={"text": float("nan")})),
    "a call without arguments": (lines(), a_message(params={"name": "echo", "_meta": META})),
    "a call that its tool fails": (lines(name="fails"), a_call("fails")),
    "a call that its tool refuses": (lines(name="refuses"), a_call("refuses")),
    "a call refused with a code that has a status": (
        lines(name="refuses"),
        a_call("refuses", {"code": -32601}),
    ),
    "a call that breaks": (lines(name="breaks"), a_call("breaks")),
    "a call with a malformed answer": (lines(name="is malformed"), a_call("is malformed")),
    "a call with arguments that are no object": (lines(), a_call(arguments=[1])),
    "a name in base64": (lines(name="=?base64?ZWNobw==?="), a_call()),
    "a header nobody asked for": ([*lines(), ("mcp-param-text", "other")], a_call()),
    "a type with a character set": (
        [*lines(without=["content-type"]), ("content-type", "Application/JSON; charset=utf-8")],
        a_call(),
    ),
    "the list of tools": (lines("tools/list", None), a_message("tools/list", {"_meta": META})),
    "discovery": (lines("server/discover", None), a_message("server/discover", {"_meta": META})),
    "a ping": (lines("ping", None), a_message("ping", {"_meta": META})),
    "an unknown method": (lines("nope/nope", None), a_message("nope/nope", {"_meta": META})),
    "a handshake": (lines("initialize", None), a_message("initialize", {"_meta": META})),
    "a method without a handler": (
        lines("resources/read", "a:b"),
        a_message("resources/read", {"uri": "a:b", "_meta": META}),
    ),
}

OTHERS: dict[str, tuple[Lines, bytes]] = {
    "a call with progress": (lines(), a_call(meta={**META, "progressToken": "t"})),
    "a subscription that is none": (
        lines("subscriptions/listen", None),
        a_message("subscriptions/listen", {"_meta": META}),
    ),
    "a tool that mirrors, in agreement": (
        [*lines(name="mirrors"), ("mcp-param-region", "north")],
        a_call("mirrors", {"region": "north"}),
    ),
    "a tool that mirrors, in disagreement": (
        [*lines(name="mirrors"), ("mcp-param-region", "south")],
        a_call("mirrors", {"region": "north"}),
    ),
    "a tool that mirrors, without the header": (lines(name="mirrors"), a_call("mirrors", {"region": "north"})),
    "nothing": (lines(), b""),
    "half a message": (lines(), b"{"),
    "another encoding": (lines(), '{"a": "é"}'.encode("latin-1")),
    "a number too long to read": (lines(), b'{"id": ' + b"1" * 5000 + b"}"),
    "a text": (lines(), b'"x"'),
    "nothing at all": (lines(), b"null"),
    "several messages": (lines(), b"[" + a_call() + b"]"),
    "depth without end": (lines(), b"[" * 100_000),
    "an answer": (lines(), b'{"jsonrpc": "2.0", "id": 1, "result": {}}'),
    "no method": (lines(), b'{"jsonrpc": "2.0", "id": 1}'),
    "no id": (lines(), b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'),
    "no id and another version": (
        [*lines(without=["mcp-protocol-version"]), ("mcp-protocol-version", "2099-01-01")],
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
    ),
    "an id of null": (lines(), a_call(id=None)),
    "an id that is a fraction": (lines(), a_call(id=1.5)),
    "an id that is a list": (lines(), a_call(id=[1])),
    "another protocol": (lines(), a_call(jsonrpc="1.0")),
    "parameters in a list": (lines(), a_message(params=[1])),
    "no parameters": (lines(), a_message()),
    "no envelope": (lines(), a_message(params={"name": "echo", "arguments": {}})),
    "an envelope in a text": (lines(), a_call(meta="x")),
    "an envelope without a version": (lines(), a_call(meta=without("protocolVersion"))),
    "an envelope without capabilities": (lines(), a_call(meta=without("clientCapabilities"))),
    "an envelope of another version": (
        lines(),
        a_call(meta={**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}),
    ),
    "a version nobody has": (
        [*lines(without=["mcp-protocol-version"]), ("mcp-protocol-version", "2099-01-01")],
        a_call(meta={**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}),
    ),
    "another method in the header": (lines("tools/list"), a_call()),
    "no method in a header": (lines(without=["mcp-method"]), a_call()),
    "another name in the header": (lines(name="other"), a_call()),
    "no name in a header": (lines(name=None), a_call()),
    "an empty name in the header": (lines(name=""), a_call()),
    "a broken name in base64": (lines(name="=?base64?ZWNob?="), a_call()),
    "the method twice": ([*lines(), ("mcp-method", "tools/call")], a_call()),
    "the name twice": ([*lines(), ("mcp-name", "forget")], a_call()),
    "the version twice": ([*lines(), ("mcp-protocol-version", "2025-11-25")], a_call()),
    "a tool without a name": (lines(name=None), a_message(params={"arguments": {}, "_meta": META})),
    "a tool with a number for a name": (lines(name="5"), a_call(5)),
    "a tool with a list for a name": (lines(), a_call(["echo"])),
    "no type": (lines(without=["content-type"]), a_call()),
    "a type that is not JSON": (
        [*lines(without=["content-type"]), ("content-type", "text/plain")],
        a_call(),
    ),
    "no accepted type": (lines(without=["accept"]), a_call()),
}


@pytest.mark.parametrize("case", PLAIN)
async def test_a_plain_request_is_answered_as_the_sdk_would_and_without_it(case: str) -> None:
    async with both() as (sdk, ours):
        theirs = await answer_of(sdk, *PLAIN[case])

        assert await answer_of(ours, *PLAIN[case]) == theirs
        assert sdk.times == 1


@pytest.mark.parametrize("case", OTHERS)
async def test_everything_else_is_answered_by_the_sdk(case: str) -> None:
    async with both() as (sdk, ours):
        theirs = await answer_of(sdk, *OTHERS[case])

        assert await answer_of(ours, *OTHERS[case]) == theirs
        assert sdk.times == 2


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from([VERSION]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
CHANGED = st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params"]), JUNK, max_size=1)
CHANGED_META = st.dictionaries(st.sampled_from([*META, "progressToken", "x/y"]), JUNK, max_size=2)
CHANGED_PARAMS = st.dictionaries(st.sampled_from(["name", "arguments", "_meta", "more"]), JUNK, max_size=1)
LEFT_OUT = st.sets(
    st.sampled_from([line[0] for line in lines() if line[0] != "mcp-protocol-version"]), max_size=1
)


@given(CHANGED, CHANGED_PARAMS, CHANGED_META, LEFT_OUT, st.booleans())
async def test_no_change_of_a_call_makes_a_difference_to_the_sdk(
    changed: dict[str, object],
    changed_params: dict[str, object],
    changed_meta: dict[str, object],
    left_out: set[str],
    is_doubled: bool,
) -> None:
    params = {"name": "echo", "arguments": {"text": "a"}, "_meta": META | changed_meta} | changed_params
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params} | changed).encode()
    headers = lines(without=sorted(left_out)) + ([("mcp-name", "echo")] if is_doubled else [])

    async with both() as (sdk, ours):
        assert await answer_of(ours, headers, body) == await answer_of(sdk, headers, body)


async def test_a_key_twice_is_refused_before_either_reads_the_message() -> None:
    body = a_call().replace(b'"text": "hello"', b'"text": "hello", "text": "goodbye"')

    async with both() as (sdk, ours):
        answer = await answer_of(ours, lines(), body)

    assert answer.status == 400
    assert json.loads(answer.body)["error"]["message"] == "Invalid request: the key 'text' is there twice"
    assert sdk.times == 0
