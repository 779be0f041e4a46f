"""Two answers of a store to the same arms, as one."""

from collections.abc import Mapping, Sequence

import numpy as np

from dormouse.ids import PassageId
from dormouse.ports.vector_store import Nomination
from dormouse.recall.dated import MAX_SPANS, merged, spans_of
from dormouse.recall.understand import understand
from tests.builders import NOW_MS

BEFORE = {"b": ("a",), "c": ("b", "a"), "d": ("c", "b")}


def a_nomination(candidates: Sequence[str], scores: Mapping[str, float]) -> Nomination:
    """As a store gives it: what comes before its candidates stands behind them."""
    wanted = {each for name in candidates for each in BEFORE.get(name, ())}
    names = [*sorted(candidates), *sorted(wanted.difference(candidates))]
    place = {name: row for row, name in enumerate(names)}
    previous = [[place[each] for each in BEFORE.get(name, ())] for name in sorted(candidates)]
    return Nomination(
        passages=[PassageId(name) for name in names],
        scores=[np.array([scores.get(name, 0.0) for name in names], dtype=np.float32)],
        sizes=np.array([len(name.encode() * 2) for name in names], dtype=np.int32),
        tokens=b"".join(name.encode() * 2 for name in names),
        is_turn=np.array([True for _ in candidates], dtype=bool),
        previous=np.array([(*each, -1, -1)[:2] for each in previous], dtype=np.int32).reshape(-1, 2),
        speakers=[f"speaker of {name}" for name in sorted(candidates)],
        roles=["" for _ in candidates],
        occurred_ms=[ord(name) for name in sorted(candidates)],
        is_derived=np.array([False for _ in candidates], dtype=bool),
    )


def plain(named: Nomination) -> dict[str, object]:
    return {
        "passages": list(named.passages),
        "candidates": list(named.candidates),
        "scores": [column.tolist() for column in named.scores],
        "tokens": (named.sizes.tolist(), named.tokens),
        "previous": named.previous.tolist(),
        "said": (list(named.speakers), list(named.roles), list(named.occurred_ms), named.is_turn.tolist()),
        "is_derived": named.is_derived.tolist(),
    }


SCORES = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}


def test_it_is_what_one_nomination_of_all_would_have_been() -> None:
    both = merged(a_nomination(["d"], SCORES), a_nomination(["b", "c"], SCORES))

    assert plain(both) == plain(a_nomination(["b", "c", "d"], SCORES))


def test_it_does_not_matter_which_comes_first_or_what_is_in_both() -> None:
    one, other = a_nomination(["b", "d"], SCORES), a_nomination(["a", "b"], SCORES)

    assert (
        plain(merged(one, other)) == plain(merged(other, one)) == plain(a_nomination(["a", "b", "d"], SCORES))
    )


def test_nothing_adds_nothing() -> None:
    one = a_nomination(["c"], SCORES)

    assert plain(merged(one, a_nomination([], SCORES))) == plain(one)


def test_no_more_times_are_nominated_for_than_the_bound() -> None:
    named = understand("Was it in 2019-03, 2019-03, 2019-04, 2019-05 or 2019-06?", NOW_MS)

    assert len(named.dates) > len(spans_of(named)) == MAX_SPANS
