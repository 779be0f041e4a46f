"""The process that serves, on a laptop the owner of the data folder: says where it answers, counts its clients,
ends when alone.

Whatever the address, `server.json` opens it for the user of this machine. A server that was started for
somebody else's sake (`idle_exit_s`) ends that long after its last request; relays ask `/local/owner` now and
then while their agent lives, so a silent agent keeps its memory.
"""

import asyncio
import ipaddress
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from dormouse.adapters.data_folder.find import OWNER_PATH
from dormouse.adapters.data_folder.server_file import ServerAddress, new_token, publish, withdraw
from dormouse.errors import MisconfiguredError
from dormouse_gateway.auth.api_keys import KeyFile
from dormouse_gateway.auth.principal import FAILURES, OPEN_PATHS, Credentials, PrincipalMiddleware
from dormouse_gateway.settings import GatewaySettings
from dormouse_gateway.web.token_bucket import Rate

DISTRIBUTION = "dormouse-memory"


class Activity:
    """Requests under way, and for how long there has been none. Times are monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open = 0
        self._last = clock()

    def enter(self) -> None:
        self._open += 1

    def leave(self) -> None:
        self._open -= 1
        self._last = self._clock()

    def idle_s(self) -> float:
        return 0.0 if self._open else self._clock() - self._last


@dataclass(frozen=True, slots=True)
class Owner:
    """Made once per server process, on a laptop after the folder's lock was taken. In a cluster there is no
    folder, and no token that opens it."""

    folder: Path | None
    credentials: Credentials
    token: str | None
    activity: Activity = field(default_factory=Activity)

    def publish(self, url: str) -> None:
        """Called when the server answers; never before, or a client would find a closed door."""
        if self.folder is None or self.token is None:
            return
        publish(self.folder, ServerAddress(os.getpid(), url.rstrip("/"), self.token, version(DISTRIBUTION)))

    def withdraw(self) -> None:
        if self.folder is not None:
            withdraw(self.folder, os.getpid())

    def routes(self) -> list[Route]:
        return [Route(OWNER_PATH, _owner, methods=["GET"])]

    def guard(self, app: ASGIApp, failures: Rate = FAILURES) -> ASGIApp:
        """The outermost layers: no request goes uncounted, none goes on without a principal."""
        return ActivityMiddleware(PrincipalMiddleware(app, self.credentials, failures), self.activity)


class ActivityMiddleware:
    """Counts requests as signs of life; probes of health are none."""

    def __init__(self, app: ASGIApp, activity: Activity) -> None:
        self._app = app
        self._activity = activity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        self._activity.enter()
        try:
            await self._app(scope, receive, send)
        finally:
            self._activity.leave()


def owner_of(settings: GatewaySettings) -> Owner:
    """What this server accepts. Raises `MisconfiguredError` for an address beyond loopback without keys."""
    keys = KeyFile(settings.api_keys_file) if settings.api_keys_file else None
    if not is_loopback(settings.host) and not (keys and keys.listing()):
        raise MisconfiguredError(
            f"listening on {settings.host} needs API keys: make one with `dormouse keys create --user NAME` "
            "and name its file in DORMOUSE_API_KEYS_FILE, or listen on 127.0.0.1",
            setting="DORMOUSE_API_KEYS_FILE",
        )
    if "*" in settings.cors_origins and not keys:
        raise MisconfiguredError(
            "DORMOUSE_CORS_ORIGINS is *, so any web page could read the memory: set DORMOUSE_API_KEYS_FILE, or "
            "list the origins that may call",
            setting="DORMOUSE_CORS_ORIGINS",
        )
    if keys:
        keys.listing()  # a damaged file ends the start, not the first request
    is_alone = settings.profile == "embedded"
    token = new_token() if is_alone else None
    credentials = Credentials(keys, token, is_loopback(settings.host))
    return Owner(settings.data_dir if is_alone else None, credentials, token)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name may resolve to anything


async def end_when_idle(activity: Activity, limit_s: float) -> None:
    """Return by asking the process to end as a SIGTERM would, once nobody came for `limit_s`."""
    while (idle_s := activity.idle_s()) < limit_s:  # noqa: ASYNC110 - time itself is awaited
        await asyncio.sleep(max(limit_s - idle_s, 0.05))
    signal.raise_signal(signal.SIGTERM)


async def _owner(_request: Request) -> Response:
    """Proof that this is the process `server.json` speaks of."""
    return JSONResponse({"pid": os.getpid(), "version": version(DISTRIBUTION)})
