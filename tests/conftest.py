"""What every tier shares: which loop a test runs on, skips that may not be, and telemetry that is seen."""

import asyncio
import os
import signal
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.seen_telemetry import SeenTelemetry
from tests.virtual_time import VirtualTimeLoop

# Time is not asserted: a busy machine must not turn a property into a failure.
settings.register_profile("dormouse", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dormouse")

# A runner in the background ignores Ctrl-C, and every program that a test starts would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

TESTS = Path(__file__).parent
REQUIRED_TIERS = frozenset(filter(None, os.environ.get("DORMOUSE_TEST_REQUIRE", "").split(",")))


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    if item.get_closest_marker("virtual_time"):
        return {"virtual": VirtualTimeLoop}
    return {"real": asyncio.new_event_loop}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A skip in a tier that DORMOUSE_TEST_REQUIRE names is a failure: a missing part must not pass as green."""
    report = yield
    tier = item.path.relative_to(TESTS).parts[0] if item.path.is_relative_to(TESTS) else ""
    if report.skipped and tier in REQUIRED_TIERS and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, though DORMOUSE_TEST_REQUIRE names {tier}: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def _telemetry() -> Iterator[SeenTelemetry]:
    seen = SeenTelemetry()
    seen.install()
    yield seen
    seen.shutdown()


@pytest.fixture
def telemetry_seen(_telemetry: SeenTelemetry) -> SeenTelemetry:
    """Spans and metrics of this test alone."""
    _telemetry.clear()
    return _telemetry
