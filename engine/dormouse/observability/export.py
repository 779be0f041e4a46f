"""Sends traces and metrics to a collector by OTLP over HTTP. Loaded only when an endpoint is set."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

EXPORT_TIMEOUT_S = 5.0  # a collector that does not answer may not hold up a stop
METRIC_INTERVAL_MS = 15_000.0


@contextmanager
def exported(endpoint: str, service: str) -> Iterator[None]:
    """Set the process's providers until the block ends; they can be set once."""
    resource = Resource.create({"service.name": service, "service.version": version("dormouse-memory")})
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    spans = OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces", timeout=EXPORT_TIMEOUT_S)
    tracers.add_span_processor(BatchSpanProcessor(spans))
    numbers = OTLPMetricExporter(endpoint=f"{endpoint}/v1/metrics", timeout=EXPORT_TIMEOUT_S)
    reader = PeriodicExportingMetricReader(
        numbers, export_interval_millis=METRIC_INTERVAL_MS, export_timeout_millis=EXPORT_TIMEOUT_S * 1000
    )
    meters = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
    trace.set_tracer_provider(tracers)
    metrics.set_meter_provider(meters)
    try:
        yield
    finally:
        tracers.shutdown()
        meters.shutdown(timeout_millis=EXPORT_TIMEOUT_S * 1000)
