"""The gateway's process: settings to engine to one application, served until the process is asked to end.

Layers, outermost first: probes, the guard against foreign names, answers to browsers' questions, the owner's
count and the caller's identity, then the routes.
"""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from dormouse import compose
from dormouse.adapters.data_folder.lock import owned
from dormouse.engine import Engine
from dormouse.errors import MisconfiguredError
from dormouse_gateway.contracts.graph.modes import tool_mode
from dormouse_gateway.contracts.graph.rest import rest_routes
from dormouse_gateway.contracts.graph.toolset import INSTRUCTIONS, GraphManners, graph_toolset
from dormouse_gateway.listen import listen, url_of
from dormouse_gateway.mcp.endpoint import Endpoint
from dormouse_gateway.mcp.server import ServerIdentity, build_server
from dormouse_gateway.mcp.session_id import SessionIds
from dormouse_gateway.mcp.session_key import session_key
from dormouse_gateway.mcp.stopping import Stopping
from dormouse_gateway.owner import DISTRIBUTION, Owner, end_when_idle, owner_of
from dormouse_gateway.ready import ready_lines
from dormouse_gateway.settings import GatewaySettings
from dormouse_gateway.web.health import ProbeRoutes, health_routes
from dormouse_gateway.web.hosts import HostGuard, HostNames
from dormouse_gateway.web.problems import exception_handlers

GRACE_S = 60  # what calls under way get when the process is asked to end
WAIT_WHEN_STOPPING_S = 50.0  # they stop waiting before that, so that each still gets its answer
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
SEEN_BY_BROWSERS = ["Mcp-Session-Id", "Mcp-Protocol-Version", "WWW-Authenticate", "Retry-After", "X-Request-Id"]


async def serve(
    settings: GatewaySettings, *, on_ready: Callable[[str], None], idle_exit_s: float | None = None
) -> None:
    """Own the data folder and answer until SIGINT or SIGTERM, or until nobody came for `idle_exit_s`.

    `on_ready` gets the lines to print once the first request can be answered. Raises MisconfiguredError
    (address, port, keys) and DataFolderBusyError before anything is started.
    """
    os.umask(0o077)  # whatever is made in the data folder, by child processes too, is for this user alone
    with owned(settings.data_dir):
        owner = owner_of(settings)
        with listen(settings.host, settings.port) as listening:
            async with compose.open_engine(settings) as engine, engine.running():
                stopping = Stopping(WAIT_WHEN_STOPPING_S)
                server = _Server(build_app(engine, settings, owner, stopping), stopping)
                await _answer(server, owner, listening, on_ready, idle_exit_s)


def build_app(engine: Engine, settings: GatewaySettings, owner: Owner, stopping: Stopping) -> ASGIApp:
    """The whole application; the server runs its lifespan."""
    identity = ServerIdentity("dormouse", "Dormouse", version(DISTRIBUTION), INSTRUCTIONS)
    server = build_server(graph_toolset(engine, manners_of(settings)), identity, stopping)
    endpoint = Endpoint(server, SessionIds([session_key(settings.data_dir)]))
    routes: list[BaseRoute] = [
        *endpoint.routes("/mcp"),
        *rest_routes(lambda: engine, settings),
        *owner.routes(),
        *health_routes(),
    ]
    app = Starlette(
        routes=routes, exception_handlers=exception_handlers(), lifespan=lambda _app: endpoint.running()
    )
    names = HostNames(settings.allowed_hosts)
    return ProbeRoutes(HostGuard(_Browsers(owner.guard(app), names), names), engine)


def manners_of(settings: GatewaySettings) -> GraphManners:
    """Read once at start. Raises MisconfiguredError when the file with the prompt cannot be read."""
    return GraphManners(
        mode=tool_mode(settings.tool_mode),
        is_scoped=settings.agent_scoped,
        has_model=settings.llm.is_configured,
        system_prompt=settings.recall_system_prompt.strip() or _prompt_in(settings.recall_system_prompt_file),
    )


def _prompt_in(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise MisconfiguredError(
            "the file named in DORMOUSE_RECALL_SYSTEM_PROMPT_FILE cannot be read as UTF-8 text",
            setting="DORMOUSE_RECALL_SYSTEM_PROMPT_FILE",
        ) from exc


async def _answer(
    server: "_Server",
    owner: Owner,
    listening: socket.socket,
    on_ready: Callable[[str], None],
    idle_exit_s: float | None,
) -> None:
    url = url_of(listening)

    def announce() -> None:
        owner.publish(url)
        on_ready(ready_lines(url, needs_key=owner.credentials.are_required))

    try:
        async with asyncio.TaskGroup() as group:
            watches = []
            if idle_exit_s is not None:
                watch = end_when_idle(owner.activity, idle_exit_s)
                watches.append(group.create_task(watch, name="end when idle"))
            await server.serve_announced([listening], announce)
            for task in watches:
                task.cancel()
    finally:
        owner.withdraw()


class _Server(uvicorn.Server):
    """uvicorn that says when it answers, and leaves the end of the process to whoever started it."""

    def __init__(self, app: ASGIApp, stopping: Stopping) -> None:
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=65,  # longer than clients keep an idle connection, so that they close it
            timeout_graceful_shutdown=GRACE_S,
        )
        super().__init__(config)
        self._stopping = stopping
        self._announce: Callable[[], None] | None = None

    async def serve_announced(self, sockets: list[socket.socket], announce: Callable[[], None]) -> None:
        """`announce` is called once, when the first request can be answered."""
        self._announce = announce
        await self.serve(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self._announce:
            self._announce()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._stopping.begin()
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The first signal drains, a second Ctrl-C does not wait; none is raised again afterwards."""
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class _Browsers(CORSMiddleware):
    """Pages from the server's own names may call it; what they may read of an answer is named."""

    def __init__(self, app: ASGIApp, names: HostNames) -> None:
        super().__init__(
            app,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
            allow_headers=["*"],
            expose_headers=SEEN_BY_BROWSERS,
        )
        self._names = names

    def is_allowed_origin(self, origin: str) -> bool:
        return self._names.allow_origin(origin)
