"""The gateway's process: settings to engine to one application, served until the process is asked to end."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from importlib import import_module
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from dormouse import compose
from dormouse.adapters.data_folder.lock import owned
from dormouse.engine import Engine
from dormouse_gateway.listen import listen, url_of
from dormouse_gateway.mcp.session_key import session_key
from dormouse_gateway.mcp.stopping import Stopping
from dormouse_gateway.owner import Owner, end_when_idle, owner_of
from dormouse_gateway.ready import ready_lines
from dormouse_gateway.settings import GatewaySettings
from dormouse_gateway.web.connection import BoundedConnection

APPLICATION = "dormouse_gateway.application"  # in a thread: it and the model take half of a start's time
GRACE_S = 60  # what calls under way get when the process is asked to end
WAIT_WHEN_STOPPING_S = 50.0  # they stop waiting before that, so that each still gets its answer
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


async def serve(
    settings: GatewaySettings, *, on_ready: Callable[[str], None], idle_exit_s: float | None = None
) -> None:
    """Answer until SIGINT or SIGTERM, or until nobody came for `idle_exit_s`; on a laptop, own the data folder.

    `on_ready` gets the lines to print once the first request can be answered. Raises MisconfiguredError
    (address, port, keys) and DataFolderBusyError before anything is started.
    """
    os.umask(0o077)  # whatever is made in the data folder, by child processes too, is for this user alone
    with ExitStack() as held:
        if settings.profile == "embedded":
            held.enter_context(owned(settings.data_dir))
        owner = owner_of(settings)
        listening = held.enter_context(listen(settings.host, settings.port))
        loading = asyncio.get_running_loop().run_in_executor(None, import_module, APPLICATION)
        async with _engine(settings) as (engine, session_key), engine.running():
            stopping = Stopping(WAIT_WHEN_STOPPING_S)
            application = (await loading).build_app(engine, settings, owner, stopping, session_key)
            server = _Server(application, stopping)
            await _answer(server, owner, listening, on_ready, idle_exit_s)


@asynccontextmanager
async def _engine(settings: GatewaySettings) -> AsyncIterator[tuple[Engine, bytes]]:
    """With the key that signs the ids of MCP's sessions: all gateways of a cluster have the same one, since any
    may be asked next. They answer, and leave the work to workers."""
    if settings.profile == "embedded":
        async with compose.open_engine(settings) as engine:
            yield engine, session_key(settings.data_dir)
        return
    async with compose.open_shared_engine(settings, frozenset()) as engine:
        yield engine, await engine.shared_secret("session-ids")


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
            http=BoundedConnection,
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
