"""Only requests that were meant for this server are served: a page in a browser cannot borrow its address.

DNS rebinding makes a browser send its request here under a foreign name; that name is what is checked.
Source: graph contract, transport; MCP specification, "Security".
"""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1:*", "localhost:*", "[::1]:*")
ANY = "*"  # whoever is in front pins the name already


class HostNames:
    """Names under which this server may be reached, `:*` at the end for any port, and `origins` of pages
    that may call it though they come from elsewhere."""

    def __init__(self, allowed: Sequence[str], origins: Sequence[str] = ()) -> None:
        self._names = frozenset(name.lower() for name in (*LOOPBACK, *allowed))
        self._origins = frozenset(origin.lower() for origin in origins)

    @property
    def are_open(self) -> bool:
        return ANY in self._names

    def allow_host(self, host: str | None) -> bool:
        """`host` as in the header, with or without a port."""
        if self.are_open:
            return True
        if not host:
            return False
        name = re.sub(r":\d+$", "", host.lower())
        return host.lower() in self._names or f"{name}:*" in self._names

    def allow_origin(self, origin: str) -> bool:
        """An origin counts as the host in it; `null` and other schemes are nobody."""
        if self.are_open or ANY in self._origins or origin.lower() in self._origins:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme in {"http", "https"} and self.allow_host(parts.netloc)


class HostGuard:
    """421 for a foreign Host, 403 for a foreign Origin; paths in `by_any_name` tell nothing worth guarding."""

    def __init__(self, app: ASGIApp, names: HostNames, *, by_any_name: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._names = names
        self._by_any_name = by_any_name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self._by_any_name:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if not self._names.allow_host(headers.get("host")):
            await PlainTextResponse("Misdirected Request", status_code=421)(scope, receive, send)
        elif origin is not None and not self._names.allow_origin(origin) and not _is_preflight(scope, headers):
            await PlainTextResponse("Forbidden Origin", status_code=403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _is_preflight(scope: Scope, headers: Headers) -> bool:
    """A browser's question before the request; the answer names who may ask, and that is not everybody."""
    return scope["method"] == "OPTIONS" and "access-control-request-method" in headers
