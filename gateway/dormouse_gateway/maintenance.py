"""What only the user of this machine may have a server do, by the token of `server.json`: rebuild its stores,
or move them to another embedding model."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dormouse.adapters.data_folder.find import MIGRATION_PATH, REBUILD_PATH
from dormouse.engine import Engine
from dormouse.errors import ConflictError, InvalidInputError
from dormouse.model.rebuild import DerivedStore
from dormouse_gateway.auth.principal import principal_of
from dormouse_gateway.contracts.graph.rest.receipts import job_view
from dormouse_gateway.web.limits import json_object
from dormouse_gateway.web.problems import AsciiResponse


def maintenance_routes(engine_provider: Callable[[], Engine]) -> list[Route]:
    async def rebuild(request: Request) -> Response:
        """202 with the job; asking again while it is under way answers with the same one."""
        stores = _stores(await json_object(request))
        engine = engine_provider()
        scope = await engine.scope_of(principal_of(request.scope))
        return AsciiResponse(
            job_view(await engine.rebuilds.rebuild(scope.workspace, scope.principal, stores)), status_code=202
        )

    async def migrate(request: Request) -> Response:
        """202 with the job."""
        engine = engine_provider()
        scope = await engine.scope_of(principal_of(request.scope))
        return AsciiResponse(
            job_view(await engine.rebuilds.migrate(scope.workspace, scope.principal)), status_code=202
        )

    async def drop(request: Request) -> Response:
        """The job that was ended."""
        engine = engine_provider()
        scope = await engine.scope_of(principal_of(request.scope))
        job = await engine.rebuilds.drop_migration(scope.workspace)
        if job is None:
            raise ConflictError("no other embedding model is being moved to")
        return AsciiResponse(job_view(job))

    return [
        Route(REBUILD_PATH, rebuild, methods=["POST"]),
        Route(MIGRATION_PATH, migrate, methods=["POST"]),
        Route(MIGRATION_PATH, drop, methods=["DELETE"]),
    ]


def _stores(body: dict[str, object]) -> list[DerivedStore]:
    wanted = body.get("stores")
    try:
        stores = [DerivedStore(each) for each in wanted] if isinstance(wanted, list) else []
    except ValueError:
        stores = []
    if not stores:
        raise InvalidInputError(f"stores must list some of {', '.join(DerivedStore)}", field="stores")
    return stores
