from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.ids import MemoryId, VersionId
from dormouse.model.interval import BEGINNING_MS, END_MS, Interval
from dormouse.model.memory import Basis, Claim, MemoryKind, MemoryVersion, SourceKind
from dormouse.recall.timeline import in_time, intervals, subjects_of
from tests.builders import A_DATASET, A_DOCUMENT, ANOTHER_DATASET, a_passage


def a_claim(
    id: str,  # noqa: A002 - the record's own field name
    object: str,  # noqa: A002
    start: int = BEGINNING_MS,
    end: int = END_MS,
    *,
    accepted: int = 1_000,
    predicate: str = "lives_in",
    source: SourceKind = SourceKind.STATED,
) -> MemoryVersion:
    return MemoryVersion(
        id=VersionId(id),
        memory=MemoryId(id),
        kind=MemoryKind.FACT,
        dataset=A_DATASET,
        document=A_DOCUMENT,
        passage=a_passage().id,
        dataset_generation=0,
        content=object,
        quote=object,
        source=source,
        confidence=0.9,
        valid=Interval(start, end),
        valid_basis=Basis.STATED,
        about=None,
        precision=None,
        transaction=Interval(accepted, END_MS),
        claim=Claim("ada", predicate, object),
        derived_by="m/1",
    )


def test_a_move_ends_where_somebody_lived_before() -> None:
    berlin, munich = a_claim("1", "berlin", 100), a_claim("2", "munich", 500)

    assert intervals([berlin, munich]) == {"1": Interval(100, 500), "2": Interval(500, END_MS)}


def test_an_older_fact_that_arrives_late_is_put_before() -> None:
    munich, berlin = a_claim("1", "munich", 500, accepted=1), a_claim("2", "berlin", 100, accepted=9)

    assert intervals([munich, berlin]) == {"1": Interval(500, END_MS), "2": Interval(100, 500)}


def test_a_stated_end_before_the_next_claim_stands() -> None:
    found = intervals([a_claim("1", "berlin", 100, 300), a_claim("2", "munich", 500)])

    assert found[VersionId("1")] == Interval(100, 300)


def test_coming_back_is_a_stretch_of_its_own() -> None:
    found = intervals([a_claim("1", "acme", 1), a_claim("2", "initech", 5), a_claim("3", "acme", 9)])

    assert found == {"1": Interval(1, 5), "2": Interval(5, 9), "3": Interval(9, END_MS)}


def test_said_twice_ends_nothing() -> None:
    found = intervals([a_claim("1", "berlin", 100), a_claim("2", "berlin", 500)])

    assert set(found.values()) == {Interval(100, END_MS), Interval(500, END_MS)}


def test_of_two_claims_for_one_instant_the_later_told_holds() -> None:
    wrong, right = a_claim("2", "paris", 100, accepted=1), a_claim("1", "berlin", 100, accepted=2)

    assert intervals([wrong, right]) == {"2": None, "1": Interval(100, END_MS)}
    assert in_time([wrong], [right]) == []


def test_claims_without_a_time_are_ordered_by_when_they_were_told() -> None:
    found = intervals([a_claim("1", "berlin", accepted=100), a_claim("2", "munich", accepted=200)])

    assert found == {"1": Interval(BEGINNING_MS, 200), "2": Interval()}


@pytest.mark.parametrize("predicate", ["likes", "speaks", "knows"])
def test_what_may_hold_side_by_side_ends_nothing(predicate: str) -> None:
    claims = [a_claim("1", "tea", 1, predicate=predicate), a_claim("2", "coffee", 2, predicate=predicate)]

    assert intervals(claims) == {}
    assert subjects_of(claims) == frozenset()
    assert in_time(claims, claims) == claims


def test_a_guess_does_not_end_what_was_stated() -> None:
    stated, guessed = a_claim("1", "berlin", 1), a_claim("2", "munich", 5, source=SourceKind.INFERRED)

    assert intervals([stated, guessed])[VersionId("1")] == Interval(1, END_MS)


def test_datasets_do_not_reconcile_with_each_other() -> None:
    mine = a_claim("1", "berlin", 1)
    theirs = replace(a_claim("2", "munich", 5), dataset=ANOTHER_DATASET)

    assert in_time([mine], [theirs]) == [mine]


claims = st.lists(
    st.builds(
        a_claim,
        st.uuids().map(str),
        st.sampled_from("abc"),
        st.one_of(st.just(BEGINNING_MS), st.integers(0, 6)),
        accepted=st.integers(0, 6),
        source=st.sampled_from([SourceKind.STATED, SourceKind.INFERRED]),
    ),
    max_size=7,
    unique_by=lambda each: each.id,
)


@given(claims.flatmap(lambda found: st.tuples(st.just(found), st.permutations(found))))
def test_the_order_of_arrival_never_changes_the_outcome(
    orders: tuple[list[MemoryVersion], list[MemoryVersion]],
) -> None:
    first, second = orders

    assert intervals(first) == intervals(second)


@given(claims)
def test_nothing_holds_longer_than_it_was_said_to(found: list[MemoryVersion]) -> None:
    left = intervals(found)

    for each in found:
        valid = left[each.id]
        assert valid is None or (valid.start_ms == each.valid.start_ms and valid.end_ms <= each.valid.end_ms)


@given(claims, st.integers(0, 8))
def test_at_any_instant_one_object_is_stated_at_most(found: list[MemoryVersion], at_ms: int) -> None:
    stated = [each for each in found if each.source is SourceKind.STATED and each.valid.has_start]

    left = in_time(stated, [])

    assert len({each.claim.object for each in left if each.claim and each.valid.covers(at_ms)}) <= 1
