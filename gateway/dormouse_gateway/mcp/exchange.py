"""One request over HTTP, run and answered: as JSON when it ends soon and said nothing before, else as events.

Nothing is set up for what most requests never need: while one is young nobody watches whether its client
left, and no stream is prepared.
"""

import asyncio
import json
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.runner import ServerRunner, modern_error_data
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp.types import JSONRPCRequest, ProgressToken
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Send

YOUNG_S = 0.05  # most calls are over by then; watching for the client costs as much as a tenth of a call
QUIET_S = 15.0  # after this much silence a stream starts or a comment follows, before a proxy cuts it

_STREAM_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]
_write_json = json.JSONEncoder(separators=(",", ":")).encode  # `json.dumps` would make one for each answer
_COMMENT = b": still working\r\n\r\n"


class Reply:
    """The answer on its way to the client, which gets `headers` with it whatever form it takes."""

    def __init__(self, send: Send, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
        self._send = send
        self._headers = headers
        self._is_stream = False
        self._turn = asyncio.Lock()  # the work and the keeping alive write to one stream
        self._last_s = asyncio.get_running_loop().time()

    async def event(self, message: Mapping[str, Any]) -> None:
        """Say something before the end, which makes the answer a stream of events."""
        await self._write(_event(message))

    async def keep_alive(self) -> None:
        """No silence is longer than QUIET_S; never returns."""
        now_s = asyncio.get_running_loop().time
        while True:
            left_s = self._last_s + QUIET_S - now_s()
            if left_s > 0:
                await asyncio.sleep(left_s)
            else:
                await self._write(_COMMENT)

    async def end(self, message: Mapping[str, Any], status: int) -> None:
        """The last word. A stream has its status already, and the error stands in the message alone."""
        if self._is_stream:
            await self._send({"type": "http.response.body", "body": _event(message), "more_body": False})
            return
        body = _compact(message)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            *self._headers,
        ]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    async def _write(self, chunk: bytes) -> None:
        async with self._turn:
            if not self._is_stream:
                headers = [*_STREAM_HEADERS, *self._headers]
                await self._send({"type": "http.response.start", "status": 200, "headers": headers})
                self._is_stream = True
            await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
            self._last_s = asyncio.get_running_loop().time()


@dataclass(slots=True)
class Exchange:
    """The SDK's view of one request: it may report progress, and may not ask the client anything."""

    transport: TransportContext
    request_id: str | int
    message_metadata: ServerMessageMetadata
    progress_token: ProgressToken | None
    reply: Reply
    can_send_request: bool = False
    _cancel_requested: anyio.Event | None = field(default=None, init=False)

    @property
    def cancel_requested(self) -> anyio.Event:
        """Never set: a client cancels by leaving."""
        if self._cancel_requested is None:
            self._cancel_requested = anyio.Event()
        return self._cancel_requested

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
        await self.reply.event({"jsonrpc": "2.0", "method": method, "params": dict(params or {})})

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if self.progress_token is None:
            return
        told = {"progressToken": self.progress_token, "progress": progress, "total": total, "message": message}
        await self.notify(
            "notifications/progress", {key: value for key, value in told.items() if value is not None}
        )


async def run(
    server: Server[Any], message: JSONRPCRequest, connection: Connection, request: Request, reply: Reply
) -> dict[str, Any]:
    """The message that answers `message`. Whatever goes wrong is one; only a cancellation leaves."""
    exchange = Exchange(
        transport=TransportContext(kind="streamable-http", can_send_request=False, headers=request.headers),
        request_id=message.id,
        message_metadata=ServerMessageMetadata(request_context=request),
        progress_token=progress_token_from_params(message.params),
        reply=reply,
    )
    try:
        # As the SDK's `serve_one`, without its shield for slow callbacks: dear, and nothing of ours has any.
        runner = ServerRunner(server, connection, {})
        try:
            result = await runner.on_request(exchange, message.method, message.params)
        finally:
            await connection.exit_stack.aclose()
    except Exception as exc:  # noqa: BLE001 - the edge: the SDK maps it to an error of the protocol
        error = modern_error_data(exc).model_dump(mode="json", by_alias=True, exclude_none=True)
        return {"jsonrpc": "2.0", "id": message.id, "error": error}
    return {"jsonrpc": "2.0", "id": message.id, "result": result}


async def unless_left(work: Awaitable[dict[str, Any]], reply: Reply, receive: Receive) -> dict[str, Any] | None:
    """What `work` returns, the reply kept alive meanwhile; None when the client left, which cancels it."""
    loop = asyncio.get_running_loop()
    stay = asyncio.timeout(None)
    try:
        async with stay, asyncio.TaskGroup() as group:
            watches: list[asyncio.Task[None]] = []
            later = loop.call_later(
                YOUNG_S,
                lambda: watches.append(group.create_task(_watch(stay, reply, receive), name="mcp watch")),
            )
            try:
                return await work
            finally:
                later.cancel()
                for watch in watches:
                    watch.cancel()
    except TimeoutError:
        if not stay.expired():
            raise
        return None


def refusal(status: int, code: int, message: str, number: str | None = None) -> Response:
    """An error of the protocol to what is no request."""
    body = {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
    return Response(_compact(body), status_code=status, media_type="application/json")


async def _watch(stay: asyncio.Timeout, reply: Reply, receive: Receive) -> None:
    async with asyncio.TaskGroup() as group:
        alive = group.create_task(reply.keep_alive(), name="mcp keep alive")
        while (await receive())["type"] != "http.disconnect":
            pass
        alive.cancel()
    stay.reschedule(asyncio.get_running_loop().time())


def _event(message: Mapping[str, Any]) -> bytes:
    return b"event: message\r\ndata: " + _compact(message) + b"\r\n\r\n"


def _compact(message: Mapping[str, Any]) -> bytes:
    return _write_json(message).encode()
