"""Newer-era requests over HTTP: a plain one is answered here, everything else by the SDK.

A plain request is sound and wants one answer. The SDK prepares each to become a stream of events and watches
for its client from the start, which takes as long as a small tool. What is to be refused, and what asks for
events, it is given as it came, so that this path has no words of its own for either.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp.server import Server
from mcp.server.connection import Connection
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundModernRoute,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.types import INVALID_REQUEST, JSONRPCRequest
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dormouse_gateway.mcp.exchange import Reply, refusal, run, unless_left
from dormouse_gateway.mcp.sole_keys import RepeatedKeyError, loads

LISTEN = "subscriptions/listen"  # its answer is a stream whatever happens


@dataclass(frozen=True, slots=True)
class PlainRequest:
    message: JSONRPCRequest
    route: InboundModernRoute


@dataclass(frozen=True, slots=True)
class NewerExchange:
    """Answers POSTs of the revisions without a handshake. Their bodies come in one piece, and a client that
    names what it accepts accepts both forms."""

    server: Server[Any]
    sdk: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        first = await receive()
        try:
            plain = self._plain(loads(first.get("body", b"")), Headers(scope=scope))
        except RepeatedKeyError as exc:  # the SDK would read such a message as it likes
            await refusal(400, INVALID_REQUEST, f"Invalid request: {exc}")(scope, receive, send)
            return
        except (ValueError, RecursionError):
            plain = None
        if plain is None or first.get("more_body", False):
            await self.sdk(scope, _again(first, receive), send)
        else:
            await self._answer(plain, Request(scope, receive), Reply(send))

    async def _answer(self, plain: PlainRequest, request: Request, reply: Reply) -> None:
        route = plain.route
        connection = Connection.from_envelope(
            route.protocol_version, route.client_info, route.client_capabilities
        )
        work = run(self.server, plain.message, connection, request, reply)
        answer = await unless_left(work, reply, request.receive)
        if answer is not None:
            await reply.end(answer, _status_of(answer))

    def _plain(self, decoded: object, headers: Headers) -> PlainRequest | None:
        """None for what is to be refused or streamed. Raises ValueError for what is no request."""
        if not isinstance(decoded, dict) or not _is_json(headers):
            return None
        message = JSONRPCRequest.model_validate(decoded)
        if (
            message.method == LISTEN
            or progress_token_from_params(message.params) is not None
            or find_duplicated_routing_header(headers.items()) is not None
            or self._mirrors_arguments(message)
        ):
            return None
        route = classify_inbound_request(decoded, headers=headers)
        return PlainRequest(message, route) if isinstance(route, InboundModernRoute) else None

    def _mirrors_arguments(self, message: JSONRPCRequest) -> bool:
        """Whether headers may have to repeat arguments, which the SDK checks."""
        if message.method != "tools/call":
            return False
        name = (message.params or {}).get("name")
        schema_of = self.server.get_tool_input_schema
        return schema_of is None or not isinstance(name, str) or schema_of(name) is not None


def _is_json(headers: Headers) -> bool:
    return "accept" in headers and headers.get("content-type", "").lower().startswith("application/json")


def _status_of(answer: Mapping[str, Any]) -> int:
    return ERROR_CODE_HTTP_STATUS.get(answer["error"]["code"], 200) if "error" in answer else 200


def _again(first: Message, receive: Receive) -> Receive:
    """`receive` from the beginning."""
    waiting = [first]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
