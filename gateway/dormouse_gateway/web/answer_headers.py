"""Headers of every answer: the request's id, and what a browser may do with it, which is nothing.

A route that sets one of them knows better. Source: Fetch, "nosniff"; CSP level 3; RFC 9111 §5.2.2.5.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dormouse_gateway.web.problems import name_request, request_id_of

REQUEST_ID = "X-Request-Id"
DEFAULTS: Mapping[str, str] = MappingProxyType(
    {
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",  # almost everything here is somebody's
    }
)
_SANE = re.compile(r"[A-Za-z0-9._-]{1,128}")


class AnswerHeaders:
    """Outermost, so that refusals of the layers inside carry them too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID, "")
        if _SANE.fullmatch(given):
            name_request(scope, given)
        request_id = request_id_of(scope)
        # Never unbound: each request has a task of its own, and the server logs in it after the last layer.
        structlog.contextvars.bind_contextvars(request_id=request_id)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = request_id
                for name, value in DEFAULTS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)
