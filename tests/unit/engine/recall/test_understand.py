from datetime import UTC, datetime

import pytest

from dormouse.recall.understand import names, understand
from tests.builders import NOW_MS


@pytest.mark.parametrize(
    "query",
    [
        "Have I ever worked with Flask?",
        "What's in my notes?",
        "I'm where?",
        "我的车在哪里",
        "Wo ist mein Auto?",
        "Где мой ключ?",
    ],
)
def test_who_asks_about_themselves_is_noticed(query: str) -> None:
    assert understand(query, NOW_MS).is_first_person


@pytest.mark.parametrize(
    "query", ["When did Caroline paint?", "Which libraries are used?", "imitation of mystery"]
)
def test_who_asks_about_others_is_not_the_first_person(query: str) -> None:
    assert not understand(query, NOW_MS).is_first_person


def test_quotations_are_kept_as_written() -> None:
    assert understand('Who said "never again" or “maybe Later”?', NOW_MS).quoted == (
        "never again",
        "maybe Later",
    )


def test_relative_dates_are_read_from_the_reference_clock() -> None:
    (span,) = understand("What happened yesterday?", NOW_MS).dates

    assert span.interval.end_ms == NOW_MS - NOW_MS % 86_400_000


def test_a_speaker_is_named_by_any_word_of_the_name() -> None:
    assert names("Maria-José Lopez") & understand("What does Lopez like?", NOW_MS).words


def test_initials_and_roles_do_not_name_anybody() -> None:
    assert names("PM") == frozenset()


@pytest.mark.parametrize("said", ["September 2025", "Sept 2025", "Sep. 2025", "2025-09", "September, 2025"])
@pytest.mark.parametrize("query", ["What did Omar buy in {}?", "{}: what did Omar buy?"])
def test_a_month_with_its_year_is_that_month(query: str, said: str) -> None:
    (span,) = understand(query.format(said), NOW_MS).dates

    assert (iso(span.interval.start_ms), iso(span.interval.end_ms)) == ("2025-09-01", "2025-10-01")


@pytest.mark.parametrize(("month", "start"), [("September", "2025-09-01"), ("Sept", "2025-09-01")])
def test_a_month_without_a_year_is_the_nearest_one(month: str, start: str) -> None:
    asked_ms = round(datetime(2025, 12, 1, tzinfo=UTC).timestamp() * 1000)

    (span,) = understand(f"What did Omar buy in {month}?", asked_ms).dates

    assert iso(span.interval.start_ms) == start


def iso(instant_ms: int) -> str:
    return datetime.fromtimestamp(instant_ms / 1000, UTC).date().isoformat()


def test_a_month_to_come_without_its_year_may_be_the_past_one() -> None:
    asked_ms = int(datetime(2026, 12, 1, tzinfo=UTC).timestamp() * 1000)

    starts = [iso(span.interval.start_ms) for span in understand("What happened in March?", asked_ms).dates]
    assert starts == ["2027-03-01", "2026-03-01"]


@pytest.mark.parametrize("said", ["next March", "in March 2027", "tomorrow", "in two weeks"])
def test_what_is_clearly_to_come_is_to_come(said: str) -> None:
    asked_ms = int(datetime(2026, 12, 1, tzinfo=UTC).timestamp() * 1000)

    (span,) = understand(f"What do we do {said}?", asked_ms).dates
    assert span.is_future
