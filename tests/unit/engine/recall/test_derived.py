import numpy as np

from dormouse.ids import PassageId
from dormouse.ports.vector_store import Nomination
from dormouse.recall.derived import MAX_THROUGH, pooled
from dormouse.recall.fuse import Ranked

A, B, GONE = PassageId("a"), PassageId("b"), PassageId("gone")


def named(*derived: tuple[str, str | None], others: tuple[str, ...] = ()) -> Nomination:
    """Derived passages with their sources; sources that are no candidates lie behind them."""
    candidates = [id_ for id_, _ in derived] + list(others)
    behind = [source for _, source in derived if source and source not in candidates]
    rows = [*candidates, *dict.fromkeys(behind)]
    previous = [[rows.index(source) if source else -1, -1] for _, source in derived] + [[-1, -1]] * len(others)
    empty = np.zeros(len(candidates), dtype=bool)
    return Nomination(
        passages=[PassageId(each) for each in rows],
        scores=[],
        sizes=np.zeros(len(rows), dtype=np.int32),
        tokens=b"",
        is_turn=empty,
        previous=np.array(previous, dtype=np.int32).reshape(-1, 2),
        speakers=[""] * len(candidates),
        roles=[""] * len(candidates),
        occurred_ms=[None] * len(candidates),
        is_derived=np.array([True] * len(derived) + [False] * len(others), dtype=bool),
    )


def test_without_derived_passages_nothing_changes() -> None:
    ranked = [Ranked(A, 2.0), Ranked(B, 1.0)]

    assert pooled(ranked, named(others=("a", "b"))) == ranked


def test_a_passage_ranks_by_the_best_of_itself_and_what_was_derived_from_it() -> None:
    ranked = [Ranked(PassageId("d1"), 3.0), Ranked(A, 2.0), Ranked(B, 1.0), Ranked(PassageId("d2"), 0.5)]

    found = pooled(ranked, named(("d1", "b"), ("d2", "a"), others=("a", "b")))

    assert sorted(found, key=lambda each: -each.score) == [
        Ranked(B, 3.0, (PassageId("d1"),)),
        Ranked(A, 2.0, (PassageId("d2"),)),
    ]


def test_a_source_that_nobody_nominated_comes_through_what_was_derived_from_it() -> None:
    assert pooled([Ranked(PassageId("d1"), 3.0)], named(("d1", "a"))) == [Ranked(A, 3.0, (PassageId("d1"),))]


def test_what_was_derived_from_a_passage_that_is_gone_leads_nowhere() -> None:
    assert pooled([Ranked(PassageId("d1"), 3.0)], named(("d1", None))) == []


def test_only_the_best_few_are_shown_with_it() -> None:
    many = [(f"d{number}", "a") for number in range(6)]

    (found,) = pooled([Ranked(PassageId(id_), -at) for at, (id_, _) in enumerate(many)], named(*many))

    assert found.through == tuple(PassageId(f"d{number}") for number in range(MAX_THROUGH))
