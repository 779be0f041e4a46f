"""Two questions that a platform asks a worker, on a port of their own and without a key.

`/healthz`: it goes on hearing of work; one that does not is to be started again. `/readyz`: it takes up work,
and what that needs answers.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dormouse.engine import Engine
from dormouse.errors import DormouseError, MisconfiguredError

READY_BUDGET_S = 3.0  # less than a probe waits


@asynccontextmanager
async def answering(engine: Engine, port: int, ending: asyncio.Event) -> AsyncIterator[None]:
    """Until the block ends. Not ready any more once `ending` is set."""
    config = uvicorn.Config(
        _application(engine, ending),
        host="0.0.0.0",  # noqa: S104 - a platform asks from outside
        port=port,
        log_config=None,
        access_log=False,
    )
    server = _Server(config)
    try:
        taken = config.bind_socket()
    except SystemExit as exc:  # its way to say that the port is taken
        raise MisconfiguredError(
            f"port {port} is taken: set DORMOUSE_HEALTH_PORT to another", setting="HEALTH_PORT"
        ) from exc
    async with asyncio.TaskGroup() as group:
        task = group.create_task(server.serve([taken]), name="health")
        try:
            yield
        finally:
            server.should_exit = True
            await asyncio.wait([task])


def _application(engine: Engine, ending: asyncio.Event) -> Starlette:
    async def alive(_request: Request) -> Response:
        return _told(None if engine.is_alive() else "deaf")

    async def ready(_request: Request) -> Response:
        if ending.is_set():
            return _told("ending")
        try:
            async with asyncio.timeout(READY_BUDGET_S):
                await engine.check_ready()
        except DormouseError as error:
            return _told(error.code)
        except TimeoutError:
            return _told("timeout")
        return _told(None)

    return Starlette(routes=[Route("/healthz", alive), Route("/readyz", ready)])


def _told(code: str | None) -> Response:
    if code is None:
        return JSONResponse({"status": "ok"})
    return JSONResponse({"status": "unavailable", "code": code}, status_code=503)


class _Server(uvicorn.Server):
    """The end of the process is somebody else's."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
