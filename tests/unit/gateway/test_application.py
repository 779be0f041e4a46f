from pathlib import Path
from typing import NoReturn

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from dormouse_gateway.application import served_routes
from dormouse_gateway.auth.principal import LOCAL_ONLY, OPEN_PATHS
from dormouse_gateway.owner import owner_of
from dormouse_gateway.settings import GatewaySettings
from dormouse_gateway.web.operation import DescribedRoute


def routes(folder: Path) -> list[Route]:
    settings = GatewaySettings(data_dir=folder)
    found = served_routes(_unserved, settings, _NeverCalled(), owner_of(settings))
    return [route for route in found if isinstance(route, Route)]


def test_every_route_but_those_of_this_machine_is_described(tmp_path: Path) -> None:
    undescribed = [route.path for route in routes(tmp_path) if not isinstance(route, DescribedRoute)]

    assert all(path.startswith(LOCAL_ONLY) for path in undescribed)


def test_every_method_of_a_route_is_described(tmp_path: Path) -> None:
    described = [route for route in routes(tmp_path) if isinstance(route, DescribedRoute)]

    assert [
        route.path
        for route in described
        if route.methods is not None and route.methods - {"HEAD"} != set(route.operations)
    ] == []


def test_every_parameter_in_a_path_is_described(tmp_path: Path) -> None:
    described = [route for route in routes(tmp_path) if isinstance(route, DescribedRoute)]

    assert [
        route.path
        for route in described
        for operation in route.operations.values()
        if operation.names_in("path") != route.param_convertors.keys()
    ] == []


def test_what_is_described_as_open_is_open(tmp_path: Path) -> None:
    described = [route for route in routes(tmp_path) if isinstance(route, DescribedRoute)]
    opened = {route.path for route in described for each in route.operations.values() if each.is_open}

    assert opened == OPEN_PATHS


def _unserved() -> NoReturn:
    raise AssertionError("routes are made without an engine")


class _NeverCalled:
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("routes are made without requests")
