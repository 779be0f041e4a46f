"""The HTTP address of one MCP server: both eras of the protocol under one path, without redirects.

Only POST is served: a stateless server has no stream to open and no session to end, and says so with 405.
"""

from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from typing import Any, Literal

from mcp.server import Server
from mcp.server.streamable_http import check_accept_headers
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.types import INVALID_REQUEST
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from dormouse_gateway.mcp.exchange import refusal
from dormouse_gateway.mcp.handshake_exchange import VERSION_HEADER, HandshakeExchange
from dormouse_gateway.mcp.newer_exchange import NewerExchange
from dormouse_gateway.mcp.session_id import SessionIds
from dormouse_gateway.web.operation import Answer, DescribedRoute, Operation

BODY_LIMIT_BYTES = 16 * 1024 * 1024  # 10 MiB of content are 13.4 MiB of base64

_NOT_ACCEPTABLE = "Not Acceptable: Client must accept both application/json and text/event-stream"


class RpcMessage(BaseModel):
    """A message of JSON-RPC 2.0; the protocol says which methods there are."""

    model_config = ConfigDict(extra="allow")

    jsonrpc: Literal["2.0"]
    method: str
    id: str | int | None = None
    params: dict[str, object] | None = None


MESSAGE = Operation(
    "The Model Context Protocol, streamable HTTP",
    "mcp",
    {
        200: Answer("The answer, or a stream of events that ends with it.", dict[str, Any]),
        202: Answer("A notification was taken note of.", media=""),
        400: Answer("No message, in the protocol's words.", dict[str, Any]),
        404: Answer("No such method, in the protocol's words.", dict[str, Any]),
        406: Answer("The client takes no answer that there is, in the protocol's words.", dict[str, Any]),
    },
    description="Both eras of the protocol; a client sends `Accept: application/json, text/event-stream`.",
    body=RpcMessage,
    refusals=(403,),
)


class Endpoint:
    """An ASGI application for one server. Serves only inside `running()`, which can be entered once."""

    def __init__(self, server: Server[Any], session_ids: SessionIds) -> None:
        self._sdk = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=BODY_LIMIT_BYTES)
        self._newer = RequestBodyLimitMiddleware(NewerExchange(server, self._sdk.asgi_app), BODY_LIMIT_BYTES)
        self._handshake = RequestBodyLimitMiddleware(HandshakeExchange(server, session_ids), BODY_LIMIT_BYTES)

    def running(self) -> AbstractAsyncContextManager[None]:
        return self._sdk.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # One of uvicorn's parsers leaves white space at the end of header values.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        request = Request(scope)
        if (refusal := _refusal(request)) is not None:
            await refusal(scope, receive, send)
            return
        version = request.headers.get(VERSION_HEADER)
        if version is None or version in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._handshake(scope, receive, send)
        else:
            await self._newer(scope, receive, send)


def mcp_routes(path: str, endpoint: ASGIApp) -> list[DescribedRoute]:
    """The endpoint answers for every method itself, in the protocol's words."""
    return [DescribedRoute(each, endpoint, {"POST": MESSAGE}) for each in (path, f"{path}/")]


def _refusal(request: Request) -> Response | None:
    if request.method != "POST":
        return Response(status_code=405, headers={"Allow": "POST"})
    accepted = request.headers.get("accept")
    if accepted is not None and not _is_enough(accepted):
        return refusal(406, INVALID_REQUEST, _NOT_ACCEPTABLE, "server-error")
    return None


@lru_cache(maxsize=64)  # clients send one of a few; reading it takes as long as all the rest here
def _is_enough(accepted: str) -> bool:
    headers = [(b"accept", accepted.encode("latin-1"))]
    return all(check_accept_headers(Request({"type": "http", "headers": headers})))
