import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

PROGRAM = """
import structlog
from dormouse import telemetry
from dormouse.settings import read
from dormouse_gateway.observability import observed
from dormouse_gateway.settings import GatewaySettings
import os
with observed(read(GatewaySettings, os.environ)):
    with telemetry.search_memory(workspace="local", search_type="auto", datasets=1) as seen:
        seen.outcome = "none"
        structlog.get_logger("test").info("inside")
"""


class Collector(ThreadingHTTPServer):
    """An OTLP/HTTP receiver that keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Receiver)
        self.received: dict[str, list[bytes]] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Receiver(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.setdefault(self.path, []).append(body)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Keeps the test's output quiet."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever, name="collector")
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_process_with_an_endpoint_sends_its_traces_and_metrics_before_it_ends(collector: Collector) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"DORMOUSE_OTLP_ENDPOINT": collector.url},
    )

    traces = ExportTraceServiceRequest.FromString(collector.received["/v1/traces"][0])
    (span,) = traces.resource_spans[0].scope_spans[0].spans
    assert span.name == "search_memory"
    service = {a.key: a.value.string_value for a in traces.resource_spans[0].resource.attributes}
    assert service["service.name"] == "dormouse-gateway"
    metrics = ExportMetricsServiceRequest.FromString(collector.received["/v1/metrics"][0])
    names = {m.name for r in metrics.resource_metrics for s in r.scope_metrics for m in s.metrics}
    assert "dormouse.recall.duration" in names
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
