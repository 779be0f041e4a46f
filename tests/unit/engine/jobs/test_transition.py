"""How receipts move. Source: writes §3 and §4."""

from hypothesis import given
from hypothesis import strategies as st

from dormouse.errors import UnreadableDocumentError
from dormouse.jobs.transition import (
    GIVE_UP_MS,
    LONGEST_PAUSE_MS,
    SHORTEST_PAUSE_MS,
    added,
    attempt_pause_ms,
    cancelled,
    failed,
    failure_of,
    moved,
    parked,
    passing_pause_ms,
    waited_too_long,
)
from dormouse.model.job import CancelReason, JobCounts, JobFailure, Stage
from tests.builders import NOW_MS, a_job


def test_becoming_searchable_is_noted_once() -> None:
    searchable = moved(a_job(Stage.APPLYING), Stage.SEARCHABLE, NOW_MS + 5)

    complete = moved(searchable, Stage.COMPLETE, NOW_MS + 9)

    assert (complete.searchable_ms, complete.finished_ms) == (NOW_MS + 5, NOW_MS + 9)


def test_moving_on_ends_a_parking() -> None:
    waiting = parked(a_job(Stage.EXTRACTING), "embedder_unavailable", NOW_MS, pause_ms=1000)

    assert (waiting.stage, waiting.next_attempt_ms) == (Stage.EXTRACTING, NOW_MS + 1000)
    assert moved(waiting, Stage.APPLYING, NOW_MS + 1).parked_reason is None


def test_a_failed_or_cancelled_job_was_never_searchable() -> None:
    failure = JobFailure("internal", "m", True, Stage.APPLYING)

    assert failed(a_job(), failure, NOW_MS).searchable_ms is None
    assert cancelled(a_job(), CancelReason.SUPERSEDED, NOW_MS).searchable_ms is None


def test_only_our_own_words_reach_a_receipt() -> None:
    foreign = failure_of(RuntimeError("/home/ada/secret.txt: SELECT"), Stage.EXTRACTING)
    own = failure_of(UnreadableDocumentError("the file is encrypted"), Stage.EXTRACTING)

    assert "secret" not in foreign.message
    assert (foreign.code, foreign.retryable) == ("internal", True)
    assert (own.code, own.message, own.retryable) == ("unreadable_document", "the file is encrypted", False)


def test_trouble_is_waited_for_seven_days() -> None:
    assert not waited_too_long(a_job(), NOW_MS + GIVE_UP_MS - 1)
    assert waited_too_long(a_job(), NOW_MS + GIVE_UP_MS)


@given(st.integers(0, GIVE_UP_MS), st.integers(0, 30))
def test_pauses_have_bounds(waited_ms: int, attempts: int) -> None:
    assert SHORTEST_PAUSE_MS <= passing_pause_ms(waited_ms) <= LONGEST_PAUSE_MS
    assert 0 < attempt_pause_ms(attempts) <= LONGEST_PAUSE_MS


def test_a_dependency_that_names_its_pause_gets_it() -> None:
    assert passing_pause_ms(0, retry_after_s=120) == 120_000


def test_counts_add_up_field_by_field() -> None:
    assert added(JobCounts(parts=2, done=3), JobCounts(done=4, facts=1)) == JobCounts(parts=2, done=7, facts=1)
