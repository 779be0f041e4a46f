"""How many are asked for, and when more are, because a limit cuts through equal scores."""

from dataclasses import dataclass

import pytest

from dormouse.adapters.vector_store.rows import DENSE, TERMS, Arm
from dormouse.adapters.vector_store.ties import MAX_ASKED, first_asked, is_cut_in_a_tie


@dataclass(frozen=True)
class Scored:
    score: float


@pytest.mark.parametrize(("name", "asked"), [(DENSE, 101), (TERMS, 200)])
def test_words_tie_more_often_than_directions(name: str, asked: int) -> None:
    assert first_asked(Arm(name, b"", 100)) == asked


@pytest.mark.parametrize(
    ("scores", "asked", "is_cut"),
    [
        ([3, 2, 2], 3, True),  # the last of all that were asked for still has the limit's score
        ([3, 2, 1], 3, False),
        ([3, 2, 2], 4, False),  # there are no more
        ([3], 3, False),
        ([2] * MAX_ASKED, MAX_ASKED, False),
    ],
)
def test_a_tie_is_cut_when_more_of_it_may_lie_behind(scores: list[int], asked: int, is_cut: bool) -> None:
    hits = [Scored(score) for score in scores]

    assert is_cut_in_a_tie(hits, 2, asked) is is_cut
