"""Every request has a principal before anything else sees it, or is answered 401.

Three ways in: a key (`X-Api-Key` or `Authorization: Bearer`), the owner's own token out of `server.json`
(the user of this machine), or, on loopback without keys, nothing at all. A credential that is wrong is
refused even where none is needed: the caller believes to be somebody else.
Source: contract-graph, "REST"; RFC 9110 §11.6.1, RFC 6750 §3.
"""

import hmac
from dataclasses import dataclass
from typing import cast

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from dormouse import telemetry
from dormouse.ids import PrincipalId
from dormouse_gateway.auth.api_keys import KeyFile
from dormouse_gateway.web.problems import Problem, problem_response

LOCAL_USER = PrincipalId("local")
OPEN_PATHS = frozenset({"/health", "/healthz", "/readyz", "/openapi.json"})  # nothing of anybody's is there
LOCAL_ONLY = "/local/"  # between this machine's own processes: the token of server.json, nothing else


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
    """Sets `scope["state"]["principal"]`, or answers 401 before a byte of the body is read."""

    def __init__(self, app: ASGIApp, credentials: Credentials) -> None:
        self._app = app
        self._credentials = credentials

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        principal = self._identify(scope)
        if principal is None:
            telemetry.auth_attempted("unknown" if _offered(Headers(scope=scope)) else "missing")
            await problem_response(_UNAUTHENTICATED, scope)(scope, receive, send)
            return
        telemetry.auth_attempted("ok")
        scope.setdefault("state", {})["principal"] = principal
        await self._app(scope, receive, send)

    def _identify(self, scope: Scope) -> PrincipalId | None:
        headers = Headers(scope=scope)
        if scope["path"].startswith(LOCAL_ONLY):
            return LOCAL_USER if _is_local(_offered(headers), self._credentials) else None
        return identify(headers, self._credentials)


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
