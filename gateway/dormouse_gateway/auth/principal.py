"""Every request has a principal before anything else sees it, or is answered 401.

Three ways in: a key (`X-Api-Key` or `Authorization: Bearer`), the owner's own token out of `server.json`
(the user of this machine), or, on loopback without keys, nothing at all. A credential that is wrong is
refused even where none is needed: the caller believes to be somebody else.
Source: contract-graph, "REST"; RFC 9110 §11.6.1, RFC 6750 §3.
"""

import hmac
import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from dormouse import telemetry
from dormouse.ids import PrincipalId
from dormouse_gateway.auth.api_keys import KeyFile
from dormouse_gateway.web.overload import MAX_CALLERS, too_many
from dormouse_gateway.web.problems import Problem, problem_response
from dormouse_gateway.web.token_bucket import Rate, TokenBuckets

LOCAL_USER = PrincipalId("local")
OPEN_PATHS = frozenset({"/health", "/healthz", "/readyz", "/openapi.json"})  # nothing of anybody's is there
LOCAL_ONLY = "/local/"  # between this machine's own processes: the token of server.json, nothing else
FAILURES = Rate(per_s=0.5, burst=30)


@dataclass(frozen=True, slots=True)
class Credentials:
    """What is accepted. `keys` None: none are configured. `local_token` None: nobody has one."""

    keys: KeyFile | None
    local_token: str | None
    is_loopback: bool

    @property
    def are_required(self) -> bool:
        return self.keys is not None or not self.is_loopback


def principal_of(scope: Scope) -> PrincipalId:
    """The principal the middleware put there; a request without one never gets this far."""
    return cast("PrincipalId", scope["state"]["principal"])


def identify(headers: Headers, credentials: Credentials) -> PrincipalId | None:
    """Whose request this is, or None when it must be refused."""
    offered = _offered(headers)
    if not offered:
        return None if credentials.are_required else LOCAL_USER
    found = {_known(secret, credentials) for secret in offered}
    return found.pop() if len(found) == 1 else None


class PrincipalMiddleware:
    """Sets `scope["state"]["principal"]`, or answers 401 before a byte of the body is read.

    An address that fails too often is answered 429. A valid credential is served nevertheless: a key cannot be
    guessed, so refusing it would only let a stranger behind the same proxy shut its owner out.
    """

    def __init__(
        self,
        app: ASGIApp,
        credentials: Credentials,
        failures: Rate = FAILURES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._credentials = credentials
        self._failures = TokenBuckets(failures, clock, most=MAX_CALLERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        principal = self._identify(scope)
        if principal is None:
            telemetry.auth_attempted("unknown" if _offered(Headers(scope=scope)) else "missing")
            wait_s = self._failures.take(_network_of(scope))
            problem = too_many("too many requests without a valid key", wait_s) if wait_s else _UNAUTHENTICATED
            await problem_response(problem, scope)(scope, receive, send)
            return
        telemetry.auth_attempted("ok")
        scope.setdefault("state", {})["principal"] = principal
        await self._app(scope, receive, send)

    def _identify(self, scope: Scope) -> PrincipalId | None:
        headers = Headers(scope=scope)
        if scope["path"].startswith(LOCAL_ONLY):
            return LOCAL_USER if _is_local(_offered(headers), self._credentials) else None
        return identify(headers, self._credentials)


def _network_of(scope: Scope) -> str:
    """Where it came from; whoever has one address of IPv6 has a network of them."""
    host = str((scope.get("client") or ("",))[0])
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host[:64]
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else host


def _offered(headers: Headers) -> list[str]:
    offered = [value.strip() for value in headers.getlist("x-api-key")]
    for value in headers.getlist("authorization"):
        scheme, _, secret = value.partition(" ")
        offered.append(secret.strip() if scheme.lower() == "bearer" else "")
    return offered


def _known(secret: str, credentials: Credentials) -> PrincipalId | None:
    if _is_local([secret], credentials):
        return LOCAL_USER
    return credentials.keys.principal_of(secret) if secret and credentials.keys else None


def _is_local(offered: list[str], credentials: Credentials) -> bool:
    token = credentials.local_token
    return bool(token) and any(
        hmac.compare_digest(secret.encode(), cast("str", token).encode()) for secret in offered
    )


_UNAUTHENTICATED = Problem(
    code="unauthenticated",
    detail="Authentication required.",
    headers={"WWW-Authenticate": 'Bearer realm="dormouse"'},
)
