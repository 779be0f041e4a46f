"""Handshake-era requests over HTTP, each answered on its own: one message in, one answer out.

The SDK's own path for these revisions builds a transport, two task groups and a dispatcher for every POST,
cuts its streams when the process is told to stop, and does not know the client's name without a session.
"""

from dataclasses import dataclass
from typing import Any

from mcp.server import Server
from mcp.server.connection import Connection
from mcp.types import INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification, JSONRPCRequest
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dormouse_gateway.mcp.exchange import Reply, refusal, run, unless_left
from dormouse_gateway.mcp.session_id import ClientName, SessionIds
from dormouse_gateway.mcp.sole_keys import RepeatedKeyError, loads

ASSUMED_VERSION = "2025-03-26"  # a request without the header; the specification says so
SESSION_HEADER = "mcp-session-id"
VERSION_HEADER = "mcp-protocol-version"


@dataclass(frozen=True, slots=True)
class HandshakeExchange:
    """Answers POSTs of the handshake revisions."""

    server: Server[Any]
    session_ids: SessionIds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        message = _parse(await request.body())
        if isinstance(message, Response):
            await message(scope, receive, send)
            return
        reply = Reply(send, self._session_headers(message) if message.method == "initialize" else [])
        work = run(self.server, message, self._connection(request), request, reply)
        answer = await unless_left(work, reply, receive)
        if answer is not None:
            await reply.end(answer, 200)

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
        return refusal(400, INVALID_REQUEST, f"Invalid request: {exc}")
    except (ValueError, RecursionError):
        return refusal(400, PARSE_ERROR, "Parse error")
    if isinstance(decoded, dict) and "id" in decoded and "method" not in decoded:
        return Response(status_code=202)  # an answer to a question that a stateless server never asks
    try:
        if isinstance(decoded, dict) and "id" not in decoded:
            JSONRPCNotification.model_validate(decoded)
            return Response(status_code=202)
        return JSONRPCRequest.model_validate(decoded)
    except ValidationError:
        return refusal(400, INVALID_REQUEST, "Body must be a single JSON-RPC request or notification object")
