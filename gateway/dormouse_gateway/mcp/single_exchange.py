"""Handshake-era requests over HTTP, each answered on its own: one message in, one answer out.

The SDK's own path for these revisions builds a transport, two task groups and a dispatcher for every POST,
cuts its streams when the process is told to stop, and does not know the client's name without a session.
This one runs the SDK's handlers as its path for the newer revision does. The answer is JSON, unless the
tool reports progress or takes longer than a proxy would wait: then it is a stream of events.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.runner import modern_error_data, serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp.types import INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification, JSONRPCRequest, ProgressToken
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dormouse_gateway.mcp.session_id import ClientName, SessionIds
from dormouse_gateway.mcp.sole_keys import RepeatedKeyError, loads

ASSUMED_VERSION = "2025-03-26"  # a request without the header; the specification says so
SESSION_HEADER = "mcp-session-id"
VERSION_HEADER = "mcp-protocol-version"

QUIET_S = 15.0  # after this much silence a stream starts or a comment follows, before a proxy cuts it

_STREAM_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]
_COMMENT = b": still working\r\n\r\n"


@dataclass(slots=True)
class _Exchange:
    """The SDK's view of one request: it may report progress, and may not ask the client anything."""

    transport: TransportContext
    request_id: str | int
    message_metadata: ServerMessageMetadata
    progress_token: ProgressToken | None
    events: "asyncio.Queue[bytes]"
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = False

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,  # noqa: ARG002 - the SDK's protocol
        opts: CallOptions | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,  # noqa: ARG002
    ) -> None:
        await self.events.put(_event({"jsonrpc": "2.0", "method": method, "params": dict(params or {})}))

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if self.progress_token is None:
            return
        told = {"progressToken": self.progress_token, "progress": progress, "total": total, "message": message}
        await self.notify(
            "notifications/progress", {key: value for key, value in told.items() if value is not None}
        )


@dataclass(frozen=True, slots=True)
class SingleExchange:
    """Answers POSTs of the handshake revisions."""

    server: Server[Any]
    session_ids: SessionIds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        message = _parse(await request.body())
        if isinstance(message, Response):
            await message(scope, receive, send)
            return
        await self._answer(message, request, receive, send)

    async def _answer(self, message: JSONRPCRequest, request: Request, receive: Receive, send: Send) -> None:
        events: asyncio.Queue[bytes] = asyncio.Queue(maxsize=16)
        exchange = _Exchange(
            transport=TransportContext(kind="streamable-http", can_send_request=False, headers=request.headers),
            request_id=message.id,
            message_metadata=ServerMessageMetadata(request_context=request),
            progress_token=progress_token_from_params(message.params),
            events=events,
        )
        async with asyncio.TaskGroup() as group:
            work = group.create_task(self._run(message, exchange, request), name=f"mcp {message.method}")
            watch = group.create_task(_cancel_on_disconnect(receive, work), name="mcp disconnect watch")
            headers = [] if message.method != "initialize" else self._session_headers(message)
            await _write(work, events, headers, send)
            watch.cancel()

    async def _run(self, message: JSONRPCRequest, exchange: _Exchange, request: Request) -> dict[str, Any]:
        try:
            result = await serve_one(
                self.server,
                exchange,
                message.method,
                message.params,
                connection=self._connection(request),
                lifespan_state={},
            )
        except Exception as exc:  # noqa: BLE001 - the edge: the SDK maps it to an error of the protocol
            error = modern_error_data(exc).model_dump(mode="json", by_alias=True, exclude_none=True)
            return {"jsonrpc": "2.0", "id": message.id, "error": error}
        return {"jsonrpc": "2.0", "id": message.id, "result": result}

    def _connection(self, request: Request) -> Connection:
        client = self.session_ids.read(request.headers.get(SESSION_HEADER))
        info = {"name": client.name, "version": client.version} if client else None
        return Connection.from_envelope(request.headers.get(VERSION_HEADER, ASSUMED_VERSION), info, {})

    def _session_headers(self, message: JSONRPCRequest) -> list[tuple[bytes, bytes]]:
        """A session id that names the client, when it named itself."""
        info = (message.params or {}).get("clientInfo")
        if not isinstance(info, dict) or not isinstance(info.get("name"), str):
            return []
        client = ClientName(info["name"], str(info.get("version", "")))
        return [(SESSION_HEADER.encode(), self.session_ids.mint(client).encode())]


def _parse(body: bytes) -> JSONRPCRequest | Response:
    """The request, or what to answer at once: nothing to a notification, an error to anything else."""
    try:
        decoded = loads(body)
    except RepeatedKeyError as exc:
        return _refusal(INVALID_REQUEST, f"Invalid request: {exc}")
    except (ValueError, RecursionError):
        return _refusal(PARSE_ERROR, "Parse error")
    if isinstance(decoded, dict) and "id" in decoded and "method" not in decoded:
        return Response(status_code=202)  # an answer to a question that a stateless server never asks
    try:
        if isinstance(decoded, dict) and "id" not in decoded:
            JSONRPCNotification.model_validate(decoded)
            return Response(status_code=202)
        return JSONRPCRequest.model_validate(decoded)
    except ValidationError:
        return _refusal(INVALID_REQUEST, "Body must be a single JSON-RPC request or notification object")


def _refusal(code: int, message: str) -> Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return Response(json.dumps(body), status_code=400, media_type="application/json")


async def _cancel_on_disconnect(receive: Receive, work: "asyncio.Task[dict[str, Any]]") -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    work.cancel()


async def _write(
    work: "asyncio.Task[dict[str, Any]]",
    events: "asyncio.Queue[bytes]",
    headers: list[tuple[bytes, bytes]],
    send: Send,
) -> None:
    """JSON when the work is done before it said anything or fell silent for too long, else events."""
    first = await _next_event(work, events)
    if work.cancelled():
        return  # nobody listens any more
    if first is None and work.done():
        body = json.dumps(work.result(), separators=(",", ":")).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            *headers,
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [*_STREAM_HEADERS, *headers]})
    while first is not None or not work.done():
        await send({"type": "http.response.body", "body": first or _COMMENT, "more_body": True})
        first = await _next_event(work, events)
    if not work.cancelled():
        await send({"type": "http.response.body", "body": _event(work.result()), "more_body": False})


async def _next_event(work: "asyncio.Task[dict[str, Any]]", events: "asyncio.Queue[bytes]") -> bytes | None:
    """The next event; None when the work ended without another or QUIET_S passed."""
    async with asyncio.TaskGroup() as group:
        get = group.create_task(events.get(), name="mcp next event")
        await asyncio.wait(
            {get, cast("asyncio.Task[Any]", work)}, timeout=QUIET_S, return_when="FIRST_COMPLETED"
        )
        get.cancel()
    if not get.cancelled():
        return get.result()
    return None if events.empty() else events.get_nowait()


def _event(message: dict[str, Any]) -> bytes:
    return f"event: message\r\ndata: {json.dumps(message, separators=(',', ':'))}\r\n\r\n".encode()
