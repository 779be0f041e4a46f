import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest
import structlog

from dormouse import telemetry
from dormouse.observability.process import QUIET_LOGGERS, log_to
from tests.seen_telemetry import SeenTelemetry


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What a process with log level `info` would write to stderr."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    quiet = {name: logging.getLogger(name).level for name in QUIET_LOGGERS}
    stream = io.StringIO()
    log_to(stream, "info")
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, given in quiet.items():
        logging.getLogger(name).setLevel(given)
    structlog.reset_defaults()


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_both_kinds_of_loggers_write_one_json_line(written: io.StringIO) -> None:
    structlog.get_logger("ours").warning("job_parked", job="j1")
    logging.getLogger("theirs").warning("request_failed", extra={"code": "not_found"})

    ours, theirs = lines(written)
    assert (ours["event"], ours["level"], ours["job"], ours["logger"]) == (
        "job_parked",
        "warning",
        "j1",
        "ours",
    )
    assert (theirs["event"], theirs["level"], theirs["code"]) == ("request_failed", "warning", "not_found")


def test_what_is_less_serious_than_the_level_is_left_out(written: io.StringIO) -> None:
    structlog.get_logger("ours").debug("detail")
    logging.getLogger("theirs").debug("detail")

    assert lines(written) == []


def test_libraries_are_heard_from_their_warnings_on(written: io.StringIO) -> None:
    logging.getLogger("uvicorn.error").info("Started server process")
    logging.getLogger("uvicorn.error").warning("slow")

    assert [line["event"] for line in lines(written)] == ["slow"]


def test_a_line_names_its_span(written: io.StringIO, telemetry_seen: SeenTelemetry) -> None:
    with telemetry.span(telemetry.RECALL_FUSE) as span:
        structlog.get_logger("ours").info("inside")
    structlog.get_logger("ours").info("outside")

    inside, outside = lines(written)
    context = span.get_span_context()
    assert inside["trace_id"] == f"{context.trace_id:032x}"
    assert inside["span_id"] == f"{context.span_id:016x}"
    assert "trace_id" not in outside


@pytest.mark.parametrize("logger", [structlog.get_logger("ours"), logging.getLogger("theirs")])
def test_a_logged_exception_never_quotes_its_message(written: io.StringIO, logger: logging.Logger) -> None:
    def read_memory() -> None:
        raise KeyError("Ada lives in London")

    try:
        try:
            read_memory()
        except KeyError as exc:
            raise ValueError("London") from exc
    except ValueError:
        logger.exception("tool_failed")

    (line,) = lines(written)
    assert "London" not in written.getvalue()
    told = line["exception"]
    assert isinstance(told, list)
    assert [link["type"] for link in told] == ["ValueError", "KeyError"]
    assert told[1]["at"][-1].endswith("read_memory")


def test_the_sdk_is_not_loaded_without_an_endpoint() -> None:
    program = (
        "import sys\n"
        "from dormouse.observability.process import observed\n"
        "from dormouse_gateway.settings import GatewaySettings\n"
        "with observed(GatewaySettings(), 'dormouse-gateway', {}):\n"
        "    print([m for m in sys.modules if m.startswith(('opentelemetry.sdk', 'opentelemetry.exporter'))])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
