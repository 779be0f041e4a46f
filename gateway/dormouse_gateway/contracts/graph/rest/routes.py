"""Every REST route of the graph contract that is served."""

from collections.abc import Callable

from dormouse.engine import Engine
from dormouse_gateway.auth.api_keys import KeyFile
from dormouse_gateway.contracts.graph.rest import (
    audit,
    datasets,
    entries,
    graph,
    items,
    jobs,
    ontologies,
    permissions,
    sessions,
    staging,
)
from dormouse_gateway.contracts.graph.rest.call import Served, route
from dormouse_gateway.contracts.graph.rest.export import EXPORT, export
from dormouse_gateway.contracts.graph.rest.forget import (
    DELETE_DATA,
    DELETE_DATASET,
    FORGET,
    delete_data,
    delete_dataset,
    forget,
)
from dormouse_gateway.contracts.graph.rest.recall import RECALL, recall_with
from dormouse_gateway.contracts.graph.rest.remember import REMEMBER, remember
from dormouse_gateway.contracts.graph.rest.search import SEARCH, search_with
from dormouse_gateway.contracts.graph.rest.status import READ_STATUS, read_status
from dormouse_gateway.contracts.graph.rest.suppress import RESTORE, SUPPRESS, restore, suppress
from dormouse_gateway.settings import GatewaySettings
from dormouse_gateway.web.operation import DescribedRoute

PREFIX = "/api/v1"


def rest_routes(engine_provider: Callable[[], Engine], settings: GatewaySettings) -> list[DescribedRoute]:
    """For the application's router; `engine_provider` is asked once per request, when the engine runs."""
    served = [
        Served("POST", "/remember", remember, REMEMBER),
        Served("POST", "/recall", recall_with(has_model=settings.llm.is_configured), RECALL),
        Served("POST", "/search", search_with(has_model=settings.llm.is_configured), SEARCH),
        Served("POST", "/forget", forget, FORGET),
        Served("DELETE", "/datasets/{dataset}", delete_dataset, DELETE_DATASET),
        Served("DELETE", "/datasets/{dataset}/data/{data}", delete_data, DELETE_DATA),
        *datasets.ROUTES,
        *items.ROUTES,
        *audit.ROUTES,
        *staging.ROUTES,
        *entries.ROUTES,
        *sessions.ROUTES,
        *graph.ROUTES,
        *jobs.ROUTES,
        *ontologies.ROUTES,
        *permissions.routes(_knows_user(settings)),
        Served("GET", "/status", read_status, READ_STATUS),
        Served("GET", "/export", export, EXPORT),
        Served("POST", "/datasets/{dataset}/data/{data}/suppress", suppress, SUPPRESS),
        Served("POST", "/datasets/{dataset}/data/{data}/restore", restore, RESTORE),
    ]
    return [route(each._replace(path=PREFIX + each.path), engine_provider) for each in served]


def _knows_user(settings: GatewaySettings) -> permissions.KnowsUser:
    """Users are who has a key; without keys there is nobody else."""
    keys = KeyFile(settings.api_keys_file) if settings.api_keys_file else None
    return lambda principal: keys is not None and any(key.user == principal for key in keys.listing())
