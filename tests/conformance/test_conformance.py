"""The real server against the official suite of MCP, in both eras of the protocol.

What it may fail is listed once, with a reason each, in `baseline.yml`; the suite refuses a listed check that
passes, as it refuses one that fails and is not listed.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.contract.program import Program
from tests.toolchain.conformance_suite import ConformanceSuite, installed

BASELINE = Path(__file__).with_name("baseline.yml")
ENTRY = re.compile(r"  - (?P<check>[\w-]+:[\w-]+)(?: +# (?P<reason>\S.*))?")
REVISIONS = ("2025-11-25", "2026-07-28")
FAILED = {"FAILURE", "WARNING"}  # the suite counts both; a warning is what a server should do


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one revision went: what the suite said of it, and each check's status by `scenario:check`."""

    exit_code: int
    said: str
    statuses: dict[str, set[str]]


@pytest.fixture(scope="session")
def suite() -> ConformanceSuite:
    found = installed()
    if not found:
        pytest.skip("the conformance suite is missing: `make test-conformance` installs it, over pip and npm")
    return found


@pytest.fixture(scope="session")
def outcomes(suite: ConformanceSuite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Outcome]]:
    results = tmp_path_factory.mktemp("results")
    with Program(tmp_path_factory.mktemp("data")).serving() as url:
        yield {revision: _judge(suite, url, revision, results / revision) for revision in REVISIONS}


@pytest.mark.parametrize("revision", REVISIONS)
def test_everything_that_a_server_of_tools_can_meet_is_met(outcomes: dict[str, Outcome], revision: str) -> None:
    outcome = outcomes[revision]

    assert outcome.exit_code == 0, outcome.said


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_suite_really_ran(outcomes: dict[str, Outcome], revision: str) -> None:
    passed = {check for check, statuses in outcomes[revision].statuses.items() if statuses == {"SUCCESS"}}

    assert {"tools-list:tools-list", "dns-rebinding-protection:localhost-host-valid-accepted"} <= passed


def test_whatever_the_baseline_excuses_fails_in_some_revision(outcomes: dict[str, Outcome]) -> None:
    failing = {
        check
        for outcome in outcomes.values()
        for check, statuses in outcome.statuses.items()
        if statuses & FAILED
    }

    assert set(_baseline()) == failing


def test_every_excuse_has_its_reason() -> None:
    assert [check for check, reason in _baseline().items() if not reason] == []


def _baseline() -> dict[str, str]:
    """Reasons by check; a line that is neither an entry, a comment nor the heading is a mistake."""
    lines = BASELINE.read_text(encoding="utf-8").splitlines()
    entries = [ENTRY.fullmatch(line) for line in lines if line and not line.startswith(("#", "server:"))]
    assert all(entries)
    return {entry["check"]: entry["reason"] or "" for entry in entries if entry}


def _judge(suite: ConformanceSuite, url: str, revision: str, results: Path) -> Outcome:
    done = suite.judge(f"{url}/mcp", revision, BASELINE, results)
    statuses: dict[str, set[str]] = {}
    for folder in results.iterdir():
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\d-]+Z$", "", folder.name)
        for check in json.loads((folder / "checks.json").read_text(encoding="utf-8")):
            statuses.setdefault(f"{scenario}:{check['id']}", set()).add(check["status"])
    return Outcome(done.returncode, done.stdout + done.stderr, statuses)
