"""The application: every route behind its layers. Loading the protocol takes a second, so `app` loads this
while the stores are opened.

Layers, outermost first: headers of every answer, the end of surprises, the guard against foreign names, answers
to browsers, the owner's count and the caller's identity, the guard against too much at once, then the routes.
"""

import math
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from dormouse.engine import Engine
from dormouse.errors import MisconfiguredError
from dormouse_gateway.auth.principal import LOCAL_ONLY
from dormouse_gateway.contracts.graph.modes import tool_mode
from dormouse_gateway.contracts.graph.rest import rest_routes
from dormouse_gateway.contracts.graph.toolset import INSTRUCTIONS, GraphManners, graph_toolset
from dormouse_gateway.maintenance import maintenance_routes
from dormouse_gateway.mcp.endpoint import Endpoint, mcp_routes
from dormouse_gateway.mcp.server import ServerIdentity, build_server
from dormouse_gateway.mcp.session_id import SessionIds
from dormouse_gateway.mcp.stopping import Stopping
from dormouse_gateway.owner import DISTRIBUTION, Owner
from dormouse_gateway.settings import GatewaySettings
from dormouse_gateway.web.answer_headers import AnswerHeaders
from dormouse_gateway.web.health import BY_ANY_NAME, health_routes
from dormouse_gateway.web.hosts import HostGuard, HostNames
from dormouse_gateway.web.openapi import openapi_route
from dormouse_gateway.web.operation import DescribedRoute
from dormouse_gateway.web.overload import OverloadGuard
from dormouse_gateway.web.problems import exception_handlers
from dormouse_gateway.web.surprises import SurpriseGuard
from dormouse_gateway.web.token_bucket import Rate

SEEN_BY_BROWSERS = ["Mcp-Session-Id", "Mcp-Protocol-Version", "WWW-Authenticate", "Retry-After", "X-Request-Id"]


def build_app(
    engine: Engine, settings: GatewaySettings, owner: Owner, stopping: Stopping, session_key: bytes
) -> ASGIApp:
    """The whole application; the server runs its lifespan. `session_key` signs the ids of sessions."""
    identity = ServerIdentity("dormouse", "Dormouse", version(DISTRIBUTION), INSTRUCTIONS)
    server = build_server(graph_toolset(engine, manners_of(settings)), identity, stopping)
    endpoint = Endpoint(server, SessionIds([session_key]))
    app = Starlette(
        routes=served_routes(lambda: engine, settings, endpoint, owner),
        exception_handlers=exception_handlers(),
        lifespan=lambda _app: endpoint.running(),
    )
    limits = settings.rate_limit
    failures = Rate(limits.failures_per_minute / 60, math.ceil(limits.failures_per_minute))
    guarded = owner.guard(OverloadGuard(app, limits, exempt=_is_local), failures)
    names = HostNames(settings.allowed_hosts, settings.cors_origins)
    inside = HostGuard(_Browsers(guarded, names), names, by_any_name=BY_ANY_NAME)
    return AnswerHeaders(SurpriseGuard(inside))


def _is_local(path: str) -> bool:
    """How this machine's processes find that the server lives must not depend on how busy it is."""
    return path.startswith(LOCAL_ONLY)


def served_routes(
    engine_provider: Callable[[], Engine], settings: GatewaySettings, mcp: ASGIApp, owner: Owner
) -> list[BaseRoute]:
    """The public ones, and those between this machine's own processes."""
    return [
        *public_routes(engine_provider, settings, mcp),
        *owner.routes(),
        *maintenance_routes(engine_provider),
    ]


def public_routes(
    engine_provider: Callable[[], Engine], settings: GatewaySettings, mcp: ASGIApp
) -> list[DescribedRoute]:
    """What clients may call; all of it is in `/openapi.json`."""
    return [
        *mcp_routes("/mcp", mcp),
        *rest_routes(engine_provider, settings),
        *health_routes(engine_provider),
        openapi_route(version(DISTRIBUTION)),
    ]


def manners_of(settings: GatewaySettings) -> GraphManners:
    """Read once at start. Raises MisconfiguredError when the file with the prompt cannot be read."""
    return GraphManners(
        mode=tool_mode(settings.tool_mode),
        is_scoped=settings.agent_scoped,
        has_model=settings.llm.is_configured,
        system_prompt=settings.recall_system_prompt.strip() or _prompt_in(settings.recall_system_prompt_file),
    )


def _prompt_in(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise MisconfiguredError(
            "the file named in DORMOUSE_RECALL_SYSTEM_PROMPT_FILE cannot be read as UTF-8 text",
            setting="DORMOUSE_RECALL_SYSTEM_PROMPT_FILE",
        ) from exc


class _Browsers(CORSMiddleware):
    """Pages from the server's own names may call it; what they may read of an answer is named."""

    def __init__(self, app: ASGIApp, names: HostNames) -> None:
        super().__init__(
            app,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
            allow_headers=["*"],
            expose_headers=SEEN_BY_BROWSERS,
        )
        self._names = names

    def is_allowed_origin(self, origin: str) -> bool:
        return self._names.allow_origin(origin)
