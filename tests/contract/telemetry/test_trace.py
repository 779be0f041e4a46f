"""What a collector sees of the real program: one trace from an agent's call to the stores, and no content."""

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.contract.mcp.talk import a_call, post
from tests.contract.program import Program
from tests.contract.telemetry.collector import Collector
from tests.promises import promise

SECRET = "Zebulon keeps the marmalade recipe"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def traced(message: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    """The agent's own trace goes on in ours."""
    message["params"]["_meta"] = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
    return message


@pytest.fixture(scope="module")
def spans(tmp_path_factory: pytest.TempPathFactory, collector: Collector) -> list[Span]:
    """Of a server that remembered something, found it, and found nothing for another question."""
    program = Program(tmp_path_factory.mktemp("memory"), {"DORMOUSE_OTLP_ENDPOINT": collector.url})
    with program.serving() as url:
        for tool, arguments in (
            ("remember", {"data": SECRET, "dataset_name": "kitchen"}),
            ("recall", {"query": "Who keeps the marmalade recipe?", "datasets": "kitchen"}),
            ("recall", {"query": "xylophones", "datasets": "kitchen", "search_type": "CHUNKS_LEXICAL"}),
        ):
            post(url, traced(a_call(tool, arguments))).raise_for_status()
    return list(collector.spans())


def attributes(span: Span) -> dict[str, object]:
    return {a.key: getattr(a.value, a.value.WhichOneof("value") or "string_value") for a in span.attributes}


@promise("P7")
def test_one_trace_runs_from_the_call_to_the_stores(spans: list[Span]) -> None:
    ours = {span.name for span in spans if span.trace_id.hex() == TRACE}

    assert {
        "tools/call remember",
        "dormouse.ingest send",
        "dormouse.ingest process",
        "upsert_memory",
        "tools/call recall",
        "search_memory",
        "recall.embed",
        "recall.fuse",
    } <= ours


def test_an_empty_recall_is_probed_within_its_budget(spans: list[Span]) -> None:
    """Graph contract, "recall"."""
    (probe,) = (span for span in spans if span.name == "recall.status_probe")

    seen = attributes(probe)
    assert (seen["budget_ms"], seen["outcome"], seen["datasets"]) == (5000, "none", 1)
    assert isinstance(seen["elapsed_ms"], int)
    assert seen["elapsed_ms"] <= 5000


def test_nothing_that_was_said_leaves_the_process(spans: list[Span], collector: Collector) -> None:
    sent = b"".join(body for bodies in collector.received.values() for body in bodies)

    assert spans
    for word in (b"Zebulon", b"marmalade", b"xylophones"):
        assert word not in sent
