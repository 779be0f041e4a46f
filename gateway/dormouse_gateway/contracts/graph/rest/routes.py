"""Every REST route of the graph contract that is served."""

from collections.abc import Callable

from starlette.routing import Route

from dormouse.engine import Engine
from dormouse_gateway.contracts.graph.rest.call import Handler, route
from dormouse_gateway.contracts.graph.rest.datasets import list_data, list_datasets
from dormouse_gateway.contracts.graph.rest.forget import delete_dataset, forget
from dormouse_gateway.contracts.graph.rest.jobs import list_jobs, read_job
from dormouse_gateway.contracts.graph.rest.recall import recall_with
from dormouse_gateway.contracts.graph.rest.remember import remember
from dormouse_gateway.contracts.graph.rest.status import read_status
from dormouse_gateway.settings import GatewaySettings

PREFIX = "/api/v1"


def rest_routes(engine_provider: Callable[[], Engine], settings: GatewaySettings) -> list[Route]:
    """For the application's router; `engine_provider` is asked once per request, when the engine runs."""
    handlers: list[tuple[str, str, Handler]] = [
        ("POST", "/remember", remember),
        ("POST", "/recall", recall_with(has_model=settings.llm.is_configured)),
        ("POST", "/forget", forget),
        ("GET", "/datasets", list_datasets),
        ("DELETE", "/datasets/{dataset}", delete_dataset),
        ("GET", "/datasets/{dataset}/data", list_data),
        ("GET", "/jobs", list_jobs),
        ("GET", "/jobs/{job}", read_job),
        ("GET", "/status", read_status),
    ]
    return [route(method, PREFIX + path, handler, engine_provider) for method, path, handler in handlers]
