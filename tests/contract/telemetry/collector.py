"""An OTLP/HTTP receiver that keeps what it is sent."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Collector(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Receiver)
        self.received: dict[str, list[bytes]] = {"/v1/traces": [], "/v1/metrics": []}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def traces(self) -> list[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(body) for body in self.received["/v1/traces"]]

    def spans(self) -> Iterator[Span]:
        for sent in self.traces():
            for resource in sent.resource_spans:
                for scope in resource.scope_spans:
                    yield from scope.spans

    def metrics(self) -> set[str]:
        return {
            metric.name
            for body in self.received["/v1/metrics"]
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


class Receiver(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received[self.path].append(body)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Keeps the test's output quiet."""
