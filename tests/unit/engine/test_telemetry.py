import asyncio

import pytest
from opentelemetry.sdk.metrics.export import HistogramDataPoint, NumberDataPoint
from opentelemetry.trace import SpanKind, StatusCode

from dormouse import telemetry
from dormouse.errors import StoreUnavailableError
from dormouse.ids import new_job_id
from tests.builders import A_JOB, A_WORKSPACE
from tests.seen_telemetry import SeenTelemetry


def test_an_error_is_told_by_its_code_and_never_by_its_message(telemetry_seen: SeenTelemetry) -> None:
    with pytest.raises(StoreUnavailableError), telemetry.span(telemetry.RECALL_VECTOR):
        raise StoreUnavailableError(port="vector")

    (span,) = telemetry_seen.spans("recall.vector")
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description is None
    assert dict(span.attributes or {}) == {"error.type": "store_unavailable"}
    assert span.events == ()


def test_an_unexpected_error_is_told_by_its_type(telemetry_seen: SeenTelemetry) -> None:
    with pytest.raises(KeyError), telemetry.span(telemetry.RECALL_FUSE):
        raise KeyError("somebody's memory")

    (span,) = telemetry_seen.spans("recall.fuse")
    assert dict(span.attributes or {}) == {"error.type": "KeyError"}
    assert "somebody" not in span.to_json()


async def test_being_cancelled_is_not_an_error(telemetry_seen: SeenTelemetry) -> None:
    with pytest.raises(asyncio.CancelledError), telemetry.span(telemetry.RECALL_GRAPH):
        raise asyncio.CancelledError

    (span,) = telemetry_seen.spans("recall.graph")
    assert span.status.status_code is StatusCode.UNSET


def test_a_recall_is_one_span_over_its_stages_and_one_duration(telemetry_seen: SeenTelemetry) -> None:
    with telemetry.search_memory(workspace=A_WORKSPACE, search_type="auto", datasets=2) as seen:
        with telemetry.span(telemetry.RECALL_LEXICAL, {telemetry.CANDIDATES_OUT: 7}):
            pass
        seen.outcome, seen.records, seen.degraded = "found", 3, ("vector",)

    stage, whole = telemetry_seen.spans()
    assert stage.parent is not None
    assert stage.parent.span_id == whole.context.span_id
    assert dict(whole.attributes or {}) == {
        "gen_ai.operation.name": "search_memory",
        "gen_ai.memory.store.id": A_WORKSPACE,
        "search_type": "auto",
        "datasets": 2,
        "gen_ai.memory.record.count": 3,
        "outcome": "found",
        "degraded": ("vector",),
    }
    (point,) = telemetry_seen.points()["dormouse.recall.duration"]
    assert isinstance(point, HistogramDataPoint)
    assert (point.count, point.attributes) == (1, {"search_type": "auto", "outcome": "found"})


def test_a_recall_that_fails_counts_as_an_error(telemetry_seen: SeenTelemetry) -> None:
    with (
        pytest.raises(StoreUnavailableError),
        telemetry.search_memory(workspace=A_WORKSPACE, search_type="auto", datasets=1),
    ):
        raise StoreUnavailableError(port="graph")

    (point,) = telemetry_seen.points()["dormouse.recall.duration"]
    assert point.attributes == {"search_type": "auto", "outcome": "error"}


@pytest.mark.virtual_time
async def test_a_probe_tells_its_budget_its_time_and_its_outcome(telemetry_seen: SeenTelemetry) -> None:
    """Contract: attributes budget, elapsed, datasets, outcome."""
    with telemetry.status_probe(budget_s=5.0, datasets=3) as seen:
        try:
            async with asyncio.timeout(5.0):
                await asyncio.Event().wait()
        except TimeoutError:
            seen.outcome = "timeout"

    (span,) = telemetry_seen.spans("recall.status_probe")
    assert dict(span.attributes or {}) == {
        "budget_ms": 5000,
        "datasets": 3,
        "elapsed_ms": 5000,
        "outcome": "timeout",
    }
    assert span.status.status_code is StatusCode.UNSET
    (point,) = telemetry_seen.points()["dormouse.recall.status_probe.duration"]
    assert isinstance(point, HistogramDataPoint)
    assert point.sum == pytest.approx(5.0)


def test_work_taken_up_later_stays_in_the_trace_of_who_asked(telemetry_seen: SeenTelemetry) -> None:
    with telemetry.send(telemetry.INGEST, workspace=A_WORKSPACE, job=A_JOB):
        carried = telemetry.carried_context()
    with telemetry.process(telemetry.INGEST, workspace=A_WORKSPACE, job=A_JOB, parent=carried):
        pass

    sent, processed = telemetry_seen.spans()
    assert (sent.name, processed.name) == ("dormouse.ingest send", "dormouse.ingest process")
    assert (sent.kind, processed.kind) == (SpanKind.PRODUCER, SpanKind.CONSUMER)
    assert processed.parent is not None
    assert (processed.parent.trace_id, processed.parent.span_id) == (
        sent.context.trace_id,
        sent.context.span_id,
    )
    assert (processed.attributes or {})["dormouse.job.id"] == A_JOB


def test_a_job_stays_in_the_trace_that_asked_for_it_first(telemetry_seen: SeenTelemetry) -> None:
    """Bells inside one process have no headers; a sweeper's later bell starts no other trace."""
    job = new_job_id()
    with (
        telemetry.span("tools/call remember"),
        telemetry.send(telemetry.INGEST, workspace=A_WORKSPACE, job=job),
    ):
        pass
    with telemetry.send(telemetry.INGEST, workspace=A_WORKSPACE, job=job):
        pass
    with telemetry.process(telemetry.INGEST, workspace=A_WORKSPACE, job=job):
        pass
    with telemetry.span(telemetry.UPSERT_MEMORY, parent=telemetry.origin_of(job)):
        pass

    (call,) = telemetry_seen.spans("tools/call remember")
    (processed,) = telemetry_seen.spans("dormouse.ingest process")
    (applied,) = telemetry_seen.spans("upsert_memory")
    assert processed.context.trace_id == applied.context.trace_id == call.context.trace_id


def test_origins_are_bounded(telemetry_seen: SeenTelemetry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "MAX_ORIGINS", 2)
    jobs = [new_job_id() for _ in range(3)]
    for job in jobs:
        with telemetry.send(telemetry.INGEST, workspace=A_WORKSPACE, job=job):
            pass

    assert telemetry.origin_of(jobs[0]) is None
    assert telemetry.origin_of(jobs[2]) is not None


def test_no_label_of_a_metric_names_a_workspace_or_a_job(telemetry_seen: SeenTelemetry) -> None:
    telemetry.job_reached("searchable", 1.2)
    telemetry.auth_attempted("unknown")
    telemetry.pool_waited("embed-query", 0.1)
    telemetry.backlog(unapplied=4, oldest_age_s=2.5)

    points = telemetry_seen.points()
    assert {name: [p.attributes for p in found] for name, found in points.items()} == {
        "dormouse.job.duration": [{"stage": "searchable"}],
        "dormouse.auth.attempts": [{"outcome": "unknown"}],
        "dormouse.pool.wait.duration": [{"pool": "embed-query"}],
        "dormouse.changes.unapplied": [{}],
        "dormouse.changes.oldest_unapplied.age": [{}],
    }
    (unapplied,) = points["dormouse.changes.unapplied"]
    assert isinstance(unapplied, NumberDataPoint)
    assert unapplied.value == 4
