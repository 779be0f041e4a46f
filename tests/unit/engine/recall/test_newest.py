from dataclasses import replace

import pytest

from dormouse.model.recall import Hit
from dormouse.recall.newest import newest_first
from dormouse.recall.understand import understand
from tests.builders import a_passage

NOW_MS = 1_780_000_000_000
DAY_MS = 86_400_000


def _hit(text: str, *, day: int, score: float, speaker: str = "", is_dated: bool = True) -> Hit:
    passage = replace(a_passage(text), speaker=speaker, occurred_ms=day * DAY_MS if is_dated else None)
    return Hit(passage, "docs", score, remembered_ms=day * DAY_MS)


def _order(question: str, *hits: Hit) -> list[tuple[str, float]]:
    return [(hit.passage.text, hit.score) for hit in newest_first(understand(question, NOW_MS), hits)]


@pytest.mark.parametrize("is_dated", [True, False])
def test_of_two_that_differ_in_what_is_asked_for_the_newer_comes_first(*, is_dated: bool) -> None:
    old = _hit("The deploy day of Atlas is Tuesday.", day=1, score=3.0, is_dated=is_dated)
    other = _hit("Lunch is at noon.", day=9, score=2.0)
    new = _hit(
        "The deploy day of Atlas is now Thursday, no longer Tuesday.", day=5, score=1.0, is_dated=is_dated
    )

    order = _order("On which day is the deploy of Atlas?", old, other, new)

    assert order == [(new.passage.text, 3.0), ("Lunch is at noon.", 2.0), (old.passage.text, 1.0)]


@pytest.mark.parametrize(
    "question",
    [
        "When did Ada live in Lisbon?",  # one of the two is asked for
        "Where did Ada live in January 2026?",  # the newer is not from then
    ],
)
def test_a_question_that_tells_them_apart_keeps_its_order(question: str) -> None:
    old, new = _hit("Ada lives in Lisbon.", day=1, score=2.0), _hit("Ada lives in Porto.", day=5, score=1.0)

    assert _order(question, old, new) == [("Ada lives in Lisbon.", 2.0), ("Ada lives in Porto.", 1.0)]


def test_two_speakers_do_not_correct_each_other() -> None:
    ada = _hit("I live in Lisbon now.", day=1, score=2.0, speaker="Ada")
    bob = _hit("I live in Porto now.", day=5, score=1.0, speaker="Bob")

    assert [text for text, _ in _order("Who lives where?", ada, bob)] == [ada.passage.text, bob.passage.text]
