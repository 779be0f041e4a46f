"""One REST call: the request, the engine, and the scope of who asks."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from dormouse.engine import Engine
from dormouse.errors import InvalidInputError, UnavailableError
from dormouse.ids import JobId
from dormouse.model.job import Job
from dormouse.model.scope import Scope
from dormouse_gateway.auth.principal import principal_of
from dormouse_gateway.web.field_names import in_the_callers_words, noted_fields
from dormouse_gateway.web.operation import DescribedRoute, Operation
from dormouse_gateway.web.pagination import refuse_unknown
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


class Served(NamedTuple):
    """One row of the table of routes: what it answers with, and what it says of itself."""

    method: str
    path: str
    handler: Handler
    operation: Operation


def route(served: Served, engine_provider: Callable[[], Engine]) -> DescribedRoute:
    """The scope is decided here, once per request, after authentication and before anything is read."""
    method, path, handler, operation = served
    known = operation.names_in("query")
    repeatable = frozenset(each.name for each in operation.parameters if each.schema.get("type") == "array")

    async def endpoint(request: Request) -> Response:
        refuse_unknown(request.query_params, known, repeatable)
        engine = engine_provider()
        try:
            async with asyncio.timeout(DEADLINE_S):
                scope = await engine.scope_of(principal_of(request.scope))
                return await handler(Call(request, engine, scope))
        except InvalidInputError as exc:
            raise in_the_callers_words(exc, noted_fields(request))  # noqa: B904 - it is the same error
        except TimeoutError as exc:
            raise UnavailableError("the request took too long") from exc

    return DescribedRoute(path, endpoint, {method: operation}, methods=[method])


def answer(content: object, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return AsciiResponse(content, status_code=status, headers=headers)
