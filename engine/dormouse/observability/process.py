"""Logs as JSON on stderr with trace and span ids; traces and metrics over OTLP/HTTP when an endpoint is set.

Standard output stays free: over stdio it carries the protocol. A logged exception is told by its types and
places, never by its messages, which may quote what somebody remembered. The SDK is imported only when there
is somewhere to send to.
"""

import logging
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TextIO

import structlog
from opentelemetry import trace
from structlog.types import EventDict, Processor

from dormouse.settings import EngineSettings

# Their info lines say nothing that an operator of ours would act on.
QUIET_LOGGERS = ("aiokafka", "alembic", "httpcore", "httpx", "mcp", "urllib3", "uvicorn")


@contextmanager
def observed(settings: EngineSettings, service: str, environ: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Logging and telemetry of this process, until the block ends; ending sends what is still waiting.

    `service` names it in traces unless `OTEL_SERVICE_NAME` does.
    """
    log_to(sys.stderr, settings.log_level)
    if not settings.otlp_endpoint:
        yield
        return
    from dormouse.observability.export import exported  # noqa: PLC0415 - the SDK is loaded only to send somewhere

    with exported(settings.otlp_endpoint, environ.get("OTEL_SERVICE_NAME") or service):
        yield


def log_to(stream: TextIO, level: str) -> None:
    """Everything that is logged, through structlog or the standard library, becomes one JSON line there."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        add_trace_ids,
        tell_exception_without_message,
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in QUIET_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def add_trace_ids(_logger: object, _method: str, event: EventDict) -> EventDict:
    """The ids under which the same moment is found in the trace."""
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = trace.format_trace_id(context.trace_id)
        event["span_id"] = trace.format_span_id(context.span_id)
    return event


def tell_exception_without_message(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Replace `exc_info` by the chain of exception types with the places they came through."""
    given = event.pop("exc_info", None)
    exc = given if isinstance(given, BaseException) else None
    if isinstance(given, tuple):
        exc = given[1]
    elif given and exc is None:
        exc = sys.exc_info()[1]
    if exc is not None:
        event["exception"] = list(_told(exc))
    return event


def _told(exc: BaseException) -> Iterator[dict[str, object]]:
    seen: set[int] = set()
    link: BaseException | None = exc
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield {"type": type(link).__qualname__, "at": _places(link.__traceback__)}
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _places(tb: TracebackType | None) -> list[str]:
    frames = traceback.extract_tb(tb)
    return [f"{os.path.basename(f.filename)}:{f.lineno} {f.name}" for f in frames]  # noqa: PTH119 - not a path
