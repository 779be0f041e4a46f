import json
import subprocess
import sys

from tests.contract.telemetry.collector import Collector

PROGRAM = """
import structlog
from dormouse import telemetry
from dormouse.settings import read
from dormouse.observability.process import observed
from dormouse_gateway.settings import GatewaySettings
import os
with observed(read(GatewaySettings, os.environ), "dormouse-gateway"):
    with telemetry.search_memory(workspace="local", search_type="auto", datasets=1) as seen:
        seen.outcome = "none"
        structlog.get_logger("test").info("inside")
"""


def test_a_process_with_an_endpoint_sends_its_traces_and_metrics_before_it_ends(collector: Collector) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"DORMOUSE_OTLP_ENDPOINT": collector.url},
    )

    (span,) = collector.spans()
    assert span.name == "search_memory"
    resource = collector.traces()[0].resource_spans[0].resource
    assert {a.key: a.value.string_value for a in resource.attributes}["service.name"] == "dormouse-gateway"
    assert "dormouse.recall.duration" in collector.metrics()
    assert done.stdout == ""
    (line,) = (json.loads(written) for written in done.stderr.splitlines())
    assert line["trace_id"] == span.trace_id.hex()


def test_a_collector_that_is_down_does_not_fail_the_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"DORMOUSE_OTLP_ENDPOINT": "http://127.0.0.1:9"},
    )

    assert done.returncode == 0
    assert all(json.loads(line) for line in done.stderr.splitlines())
