"""Three questions a platform asks, answered before anything is checked: probes know no names and no keys.

`/healthz`: the process lives, whatever it depends on. `/readyz`: it can serve. `/health`: the graph contract's.
"""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from dormouse.engine import Engine
from dormouse.errors import DormouseError

READY_BUDGET_S = 3.0  # less than a probe waits


class ProbeRoutes:
    """Answers `/healthz` and `/readyz` itself and hands everything else on: probes come by pod address."""

    def __init__(self, app: ASGIApp, engine: Engine) -> None:
        self._app = app
        self._engine = engine

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in {"/healthz", "/readyz"}:
            await self._app(scope, receive, send)
            return
        response = alive() if scope["path"] == "/healthz" else await readiness(self._engine)
        await response(scope, receive, send)


def alive() -> Response:
    return JSONResponse({"status": "ok"})


async def readiness(engine: Engine) -> Response:
    """503 and the code of what is missing, until everything answers."""
    try:
        async with asyncio.timeout(READY_BUDGET_S):
            await engine.check_ready()
    except DormouseError as error:
        return JSONResponse({"status": "unavailable", "code": error.code}, status_code=503)
    except TimeoutError:
        return JSONResponse({"status": "unavailable", "code": "timeout"}, status_code=503)
    return alive()


def health_routes() -> list[Route]:
    """The contract's `/health`, behind the same guard as everything else."""

    async def health(_request: Request) -> Response:
        return alive()

    return [Route("/health", health, methods=["GET"])]
