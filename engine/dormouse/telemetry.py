"""Every span, metric and attribute that Dormouse emits is named here, and opened or recorded from here.

Only the OpenTelemetry API is used: without a configured SDK every call is a no-op of some microseconds.
No query text, content or exception message ever becomes an attribute, an event or a status; an error is told
by its code. Workspaces and datasets are named on spans only, so that metrics stay bounded.
Source: the OpenTelemetry conventions for GenAI and messaging, both at their development versions.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from opentelemetry import metrics, propagate, trace
from opentelemetry.metrics import Counter, Histogram
from opentelemetry.metrics import _Gauge as Gauge  # the public name is missing from the API's package
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.util.types import AttributeValue

from dormouse.errors import DormouseError
from dormouse.ids import JobId, WorkspaceId

SCOPE: Final = "dormouse"

# Spans.
SEARCH_MEMORY: Final = "search_memory"
RECALL_EMBED: Final = "recall.embed"
RECALL_VECTOR: Final = "recall.vector"
RECALL_LEXICAL: Final = "recall.lexical"
RECALL_GRAPH: Final = "recall.graph"
RECALL_FUSE: Final = "recall.fuse"
RECALL_ANSWER: Final = "recall.answer"
RECALL_STATUS_PROBE: Final = "recall.status_probe"
UPSERT_MEMORY: Final = "upsert_memory"
UPDATE_MEMORY: Final = "update_memory"
DELETE_MEMORY: Final = "delete_memory"
CHAT: Final = "chat"
EMBEDDINGS: Final = "embeddings"
INGEST: Final = "dormouse.ingest"  # "dormouse.ingest send", "dormouse.ingest process"
APPLY: Final = "dormouse.apply"
ENRICH: Final = "dormouse.enrich"

# Attributes.
BUDGET_MS: Final = "budget_ms"
CANDIDATES_IN: Final = "candidates_in"
CANDIDATES_OUT: Final = "candidates_out"
DATASETS: Final = "datasets"  # how many, never which
DEGRADED: Final = "degraded"  # the parts that did not answer
DRIFT: Final = "drift"  # the code of its kind
ELAPSED_MS: Final = "elapsed_ms"
ERROR_TYPE: Final = "error.type"
JOB: Final = "dormouse.job.id"
OPERATION: Final = "gen_ai.operation.name"
OUTCOME: Final = "outcome"
POOL: Final = "pool"
RECORD_COUNT: Final = "gen_ai.memory.record.count"
SEARCH_TYPE: Final = "search_type"
STAGE: Final = "stage"
STORE_ID: Final = "gen_ai.memory.store.id"  # the workspace
PROVIDER: Final = "gen_ai.provider.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
TOKEN_TYPE: Final = "gen_ai.token.type"  # noqa: S105 - the convention's own name, no secret
TOKENS_IN: Final = "gen_ai.usage.input_tokens"
TOKENS_OUT: Final = "gen_ai.usage.output_tokens"
MESSAGING_DESTINATION: Final = "messaging.destination.name"
MESSAGING_OPERATION: Final = "messaging.operation.name"
MESSAGING_OPERATION_TYPE: Final = "messaging.operation.type"
MESSAGING_SYSTEM: Final = "messaging.system"

# Metrics; durations in seconds.
RECALL_DURATION: Final = "dormouse.recall.duration"
STATUS_PROBE_DURATION: Final = "dormouse.recall.status_probe.duration"
JOB_DURATION: Final = "dormouse.job.duration"
UNAPPLIED_CHANGES: Final = "dormouse.changes.unapplied"
OLDEST_UNAPPLIED_AGE: Final = "dormouse.changes.oldest_unapplied.age"
DRIFT_FOUND: Final = "dormouse.audit.drift"
DRIFT_REPAIRED: Final = "dormouse.audit.repaired"
AUTH_ATTEMPTS: Final = "dormouse.auth.attempts"
POOL_WAIT_DURATION: Final = "dormouse.pool.wait.duration"
MODEL_DURATION: Final = "gen_ai.client.operation.duration"
MODEL_TOKENS: Final = "gen_ai.client.token.usage"  # not a duration: tokens of one call

# Bounds suit answers within a second and jobs within minutes; the SDK's own end at ten seconds.
RECALL_BOUNDS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
TOKEN_BOUNDS: Final = (1.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16_384.0, 65_536.0, 262_144.0)
JOB_BOUNDS_S: Final = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0)


MAX_ORIGINS: Final = 10_000  # jobs; whoever waits longer behind so many starts a trace of its own

ProbeOutcome = Literal["found", "indexing", "build_failed", "none", "timeout", "error"]
Pool = Literal["embed-query", "embed-passages", "vectors"]


@dataclass(slots=True)
class SearchObservation:
    """What a recall fills in before its span ends; untouched it says that the recall failed."""

    outcome: str = "error"
    records: int = 0
    degraded: tuple[str, ...] = ()


@dataclass(slots=True)
class ModelObservation:
    """What a call to a model fills in before its span ends."""

    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(slots=True)
class ProbeObservation:
    outcome: ProbeOutcome = "error"


# Bells inside one process have no headers. Empty while nothing is exported.
_origins: OrderedDict[JobId, Mapping[str, str]] = OrderedDict()


@contextmanager
def span(
    name: str,
    attributes: Mapping[str, AttributeValue] | None = None,
    *,
    kind: SpanKind = SpanKind.INTERNAL,
    parent: Mapping[str, str] | None = None,
) -> Iterator[Span]:
    """A span around the block; `parent` are headers that `carried_context` made elsewhere.

    An exception marks it with the error's code and passes on; being cancelled is not an error.
    """
    context = propagate.extract(parent) if parent else None
    with _tracer().start_as_current_span(
        name,
        context,
        kind,
        attributes,
        record_exception=False,  # its message may quote content
        set_status_on_exception=False,
    ) as opened:
        try:
            yield opened
        except Exception as exc:
            opened.set_attribute(ERROR_TYPE, _code_of(exc))
            opened.set_status(Status(StatusCode.ERROR))
            raise


@contextmanager
def search_memory(*, workspace: WorkspaceId, search_type: str, datasets: int) -> Iterator[SearchObservation]:
    """One recall as a whole: its span and its duration. `datasets` is how many were searched."""
    attributes: dict[str, AttributeValue] = {
        OPERATION: SEARCH_MEMORY,
        STORE_ID: workspace,
        SEARCH_TYPE: search_type,
        DATASETS: datasets,
    }
    seen, started_s = SearchObservation(), _now_s()
    try:
        with span(SEARCH_MEMORY, attributes) as opened:
            try:
                yield seen
            finally:
                opened.set_attribute(RECORD_COUNT, seen.records)
                opened.set_attribute(OUTCOME, seen.outcome)
                opened.set_attribute(DEGRADED, seen.degraded)
    finally:
        labels = {SEARCH_TYPE: search_type, OUTCOME: seen.outcome}
        _histogram(RECALL_DURATION, RECALL_BOUNDS_S).record(_now_s() - started_s, labels)


@contextmanager
def status_probe(*, budget_s: float, datasets: int) -> Iterator[ProbeObservation]:
    """The probe of an empty recall: budget, time taken and outcome, on its span and as a duration."""
    seen, started_s = ProbeObservation(), _now_s()
    attributes = {BUDGET_MS: round(budget_s * 1000), DATASETS: datasets}
    with span(RECALL_STATUS_PROBE, attributes) as opened:
        try:
            yield seen
        finally:
            elapsed_s = _now_s() - started_s
            opened.set_attribute(ELAPSED_MS, round(elapsed_s * 1000))
            opened.set_attribute(OUTCOME, seen.outcome)
            _histogram(STATUS_PROBE_DURATION, RECALL_BOUNDS_S).record(elapsed_s, {OUTCOME: seen.outcome})


@contextmanager
def chat(model: str, operation: Literal["chat", "embeddings"] = CHAT) -> Iterator[ModelObservation]:
    """One call to a model elsewhere: its span, its duration and its tokens; never what was asked or said."""
    seen, started_s = ModelObservation(), _now_s()
    labels: dict[str, AttributeValue] = {OPERATION: operation, PROVIDER: "openai", REQUEST_MODEL: model}
    try:
        with span(f"{operation} {model}", labels, kind=SpanKind.CLIENT) as opened:
            try:
                yield seen
            finally:
                opened.set_attribute(TOKENS_IN, seen.tokens_in)
                opened.set_attribute(TOKENS_OUT, seen.tokens_out)
    finally:
        _histogram(MODEL_DURATION, JOB_BOUNDS_S).record(_now_s() - started_s, labels)
        for kind, tokens in (("input", seen.tokens_in), ("output", seen.tokens_out)):
            if tokens:
                _histogram(MODEL_TOKENS, TOKEN_BOUNDS, "{token}").record(tokens, {**labels, TOKEN_TYPE: kind})


@contextmanager
def process(
    destination: Literal["dormouse.ingest", "dormouse.apply", "dormouse.enrich"],
    *,
    workspace: WorkspaceId,
    job: JobId | None = None,
    parent: Mapping[str, str] | None = None,
) -> Iterator[Span]:
    """Work that a bell asked for, as `dormouse.ingest process` or another destination's.

    Without `parent`, it continues the trace in which this process was asked for the job.
    """
    attributes = _messaging(destination, "process", workspace, job)
    origin = parent or (origin_of(job) if job is not None else None)
    with span(f"{destination} process", attributes, kind=SpanKind.CONSUMER, parent=origin) as opened:
        yield opened


@contextmanager
def send(
    destination: Literal["dormouse.ingest", "dormouse.apply"],
    *,
    workspace: WorkspaceId,
    job: JobId | None = None,
) -> Iterator[Span]:
    """Ringing a bell, as `dormouse.ingest send` or `dormouse.apply send`; the first for a job is its origin."""
    attributes = _messaging(destination, "send", workspace, job)
    with span(f"{destination} send", attributes, kind=SpanKind.PRODUCER) as opened:
        if job is not None and opened.is_recording():
            arrived(job, carried_context())
        yield opened


def arrived(job: JobId, headers: Mapping[str, str]) -> None:
    """Another process, or this one, rang for the job in the trace that `headers` carry; the first counts."""
    if headers and job not in _origins:
        _origins[job] = headers
        if len(_origins) > MAX_ORIGINS:
            _origins.popitem(last=False)


def origin_of(job: JobId) -> Mapping[str, str] | None:
    """Headers of the span that first rang for the job, here or in the process whose bell arrived here."""
    return _origins.get(job)


def carried_context() -> dict[str, str]:
    """The current span as headers, to be kept with work that another task or process takes up."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return carrier


def job_reached(
    stage: Literal["searchable", "complete", "failed", "cancelled"], since_accepted_s: float
) -> None:
    _histogram(JOB_DURATION, JOB_BOUNDS_S).record(since_accepted_s, {STAGE: stage})


def backlog(*, unapplied: int, oldest_age_s: float) -> None:
    """How many changes wait to be applied over all workspaces, and how long the oldest has; 0 when none."""
    _gauge(UNAPPLIED_CHANGES, "{change}").set(unapplied)
    _gauge(OLDEST_UNAPPLIED_AGE, "s").set(oldest_age_s)


def drift_found(drift: str, count: int) -> None:
    """What an audit found, by kind; every audit tells it again until it is repaired."""
    _counter(DRIFT_FOUND, "{row}").add(count, {DRIFT: drift})


def drift_repaired(drift: str, count: int = 1) -> None:
    _counter(DRIFT_REPAIRED, "{row}").add(count, {DRIFT: drift})


def auth_attempted(outcome: Literal["ok", "missing", "unknown"]) -> None:
    _counter(AUTH_ATTEMPTS, "{attempt}").add(1, {OUTCOME: outcome})


def pool_waited(pool: Pool, waited_s: float) -> None:
    """How long a call queued before a bounded pool took it up."""
    _histogram(POOL_WAIT_DURATION, RECALL_BOUNDS_S).record(waited_s, {POOL: pool})


def _messaging(
    destination: str, operation: Literal["send", "process"], workspace: WorkspaceId, job: JobId | None
) -> dict[str, AttributeValue]:
    attributes: dict[str, AttributeValue] = {
        MESSAGING_SYSTEM: SCOPE,
        MESSAGING_DESTINATION: destination,
        MESSAGING_OPERATION: operation,
        MESSAGING_OPERATION_TYPE: operation,
        STORE_ID: workspace,
    }
    return attributes if job is None else attributes | {JOB: job}


def _code_of(exc: Exception) -> str:
    return exc.code if isinstance(exc, DormouseError) else type(exc).__qualname__


def _now_s() -> float:
    """The loop's clock where there is one, so that a virtual clock is measured by itself."""
    try:
        return asyncio.get_running_loop().time()
    except RuntimeError:
        return time.monotonic()


@cache  # what it returns follows the provider that is set later
def _tracer() -> trace.Tracer:
    return trace.get_tracer(SCOPE)


@cache
def _meter() -> metrics.Meter:
    return metrics.get_meter(SCOPE)


@cache
def _histogram(name: str, bounds: tuple[float, ...], unit: str = "s") -> Histogram:
    return _meter().create_histogram(name, unit=unit, explicit_bucket_boundaries_advisory=bounds)


@cache
def _counter(name: str, unit: str) -> Counter:
    return _meter().create_counter(name, unit=unit)


@cache
def _gauge(name: str, unit: str) -> Gauge:
    return _meter().create_gauge(name, unit=unit)
