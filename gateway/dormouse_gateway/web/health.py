"""Three questions a platform asks; two of them under any name, and none needs a key.

`/healthz`: the process lives, whatever it depends on. `/readyz`: it can serve. `/health`: the graph contract's.
"""

import asyncio
from collections.abc import Callable
from typing import NotRequired

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from typing_extensions import TypedDict

from dormouse.engine import Engine
from dormouse.errors import DormouseError
from dormouse_gateway.web.operation import Answer, DescribedRoute, Operation

READY_BUDGET_S = 3.0  # less than a probe waits
BY_ANY_NAME = frozenset({"/healthz", "/readyz"})  # probes come by pod address


class HealthView(TypedDict):
    """`status` is `ok` or `unavailable`, then with the code of what is missing."""

    status: str
    code: NotRequired[str]


_ALIVE = {200: Answer("The process lives; nothing else was asked.", HealthView)}
HEALTH = Operation("Whether the process lives", "server", _ALIVE, is_open=True)
READY = Operation(
    "Whether it can serve",
    "server",
    {200: Answer("It can.", HealthView), 503: Answer("Something is missing.", HealthView)},
    is_open=True,
)


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


def health_routes(engine_provider: Callable[[], Engine]) -> list[DescribedRoute]:
    async def health(_request: Request) -> Response:
        return alive()

    async def ready(_request: Request) -> Response:
        return await readiness(engine_provider())

    return [
        DescribedRoute("/health", health, {"GET": HEALTH}, methods=["GET"]),
        DescribedRoute("/healthz", health, {"GET": HEALTH}, methods=["GET"]),
        DescribedRoute("/readyz", ready, {"GET": READY}, methods=["GET"]),
    ]
