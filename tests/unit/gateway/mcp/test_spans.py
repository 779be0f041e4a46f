"""The span around a message: made for whoever sees it, and for nobody else."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from opentelemetry import trace

from dormouse_gateway.mcp.server import ServerIdentity, Toolset, build_server
from dormouse_gateway.mcp.spans import OnlyWhenSeen
from dormouse_gateway.mcp.stopping import Stopping
from tests.seen_telemetry import SeenTelemetry

Context = ServerRequestContext[Any, Any]
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Spans(ServerMiddleware[Any]):
    """Counts what it would have made."""

    def __init__(self) -> None:
        self.made = 0

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        self.made += 1
        return await call_next(ctx)


async def spans_made(meta: dict[str, Any] | None) -> int:
    """Of one message, whose answer must come whether it has a span or not."""
    spans = Spans()

    async def handler(_context: Context) -> HandlerResult:
        return {"answered": True}

    context = cast("Context", SimpleNamespace(meta=meta))
    assert await OnlyWhenSeen(spans)(context, handler) == {"answered": True}
    return spans.made


@pytest.fixture
def _nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "get_tracer_provider", trace.ProxyTracerProvider)


@pytest.mark.usefixtures("_nobody_looks")
@pytest.mark.parametrize("meta", [None, {}, {"progress_token": "t"}])
async def test_no_span_is_made_where_nobody_looks(meta: dict[str, Any] | None) -> None:
    assert await spans_made(meta) == 0


@pytest.mark.usefixtures("_nobody_looks")
async def test_a_trace_that_the_client_began_goes_on_in_the_logs_though_nobody_exports_it() -> None:
    assert await spans_made({"traceparent": PARENT}) == 1


async def test_a_span_is_made_where_traces_are_exported(telemetry_seen: SeenTelemetry) -> None:
    assert await spans_made(None) == 1
    assert telemetry_seen.spans() == []


def test_a_server_makes_all_its_spans_this_way() -> None:
    server = build_server(Toolset({}, []), ServerIdentity("a server", "", "1", ""), Stopping(1.0))

    assert [type(each) for each in server.middleware] == [OnlyWhenSeen]
