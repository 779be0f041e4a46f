"""One REST call: the request, the engine, and the scope of who asks."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dormouse.engine import Engine
from dormouse.errors import UnavailableError
from dormouse.ids import JobId
from dormouse.model.job import Job
from dormouse.model.scope import Scope
from dormouse_gateway.auth.principal import principal_of
from dormouse_gateway.web.problems import AsciiResponse

WAIT_S = 50.0  # a blocking write answers `running` then; proxies and clients give up at 60 s
DEADLINE_S = 300.0  # a slow upload of the largest form, and the wait after it


@dataclass(frozen=True, slots=True)
class Call:
    request: Request
    engine: Engine
    scope: Scope

    async def waited(self, jobs: Sequence[JobId], until: Literal["searchable", "final"]) -> list[Job]:
        """The jobs as they stand when all got there or `WAIT_S` is over; one budget for all of them."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + WAIT_S
        return [
            await self.engine.wait(self.scope, job, until=until, budget_s=max(0.0, deadline - loop.time()))
            for job in jobs
        ]


Handler = Callable[[Call], Awaitable[Response]]


def route(method: str, path: str, handler: Handler, engine_provider: Callable[[], Engine]) -> Route:
    """The scope is decided here, once per request, after authentication and before anything is read."""

    async def endpoint(request: Request) -> Response:
        engine = engine_provider()
        try:
            async with asyncio.timeout(DEADLINE_S):
                scope = await engine.scope_of(principal_of(request.scope))
                return await handler(Call(request, engine, scope))
        except TimeoutError as exc:
            raise UnavailableError("the request took too long") from exc

    return Route(path, endpoint, methods=[method], name=f"{method} {path}")


def answer(content: object, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return AsciiResponse(content, status_code=status, headers=headers)
