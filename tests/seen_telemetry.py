"""Keeps in memory what is emitted, through the SDK that a server exports with."""

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import Counter, Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    HistogramDataPoint,
    InMemoryMetricReader,
    NumberDataPoint,
)
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

Point = NumberDataPoint | HistogramDataPoint


class SeenTelemetry:
    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        delta = AggregationTemporality.DELTA  # so that a test sees its own numbers only
        self._reader = InMemoryMetricReader(preferred_temporality={Counter: delta, Histogram: delta})
        self._tracers = TracerProvider(shutdown_on_exit=False)
        self._tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self._meters = MeterProvider([self._reader], shutdown_on_exit=False)

    def install(self) -> None:
        """For the whole process: the API lets providers be set once."""
        trace.set_tracer_provider(self._tracers)
        metrics.set_meter_provider(self._meters)

    def clear(self) -> None:
        self._spans.clear()
        self._reader.get_metrics_data()

    def shutdown(self) -> None:
        self._tracers.shutdown()
        self._meters.shutdown()

    def spans(self, name: str = "") -> list[ReadableSpan]:
        """Ended ones of this name, or all, in the order they ended."""
        return [span for span in self._spans.get_finished_spans() if name in ("", span.name)]

    def points(self) -> dict[str, list[Point]]:
        """Data points by metric since the last look."""
        data = self._reader.get_metrics_data()
        found: dict[str, list[Point]] = {}
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    found.setdefault(metric.name, []).extend(
                        point
                        for point in metric.data.data_points
                        if isinstance(point, NumberDataPoint | HistogramDataPoint)
                    )
        return found
