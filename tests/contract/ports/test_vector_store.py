"""The vectors' port, on every adapter of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from dormouse import ids
from dormouse.errors import ForbiddenError, InvalidInputError, MisconfiguredError
from dormouse.model.change import Erasure
from dormouse.model.passage import Nominee, Point
from dormouse.model.scope import Scope
from dormouse.model.workspace import Collection
from dormouse.ports.vector_store import DenseArm, PointFilter, TermArm, VectorStore
from tests.builders import A_DATASET, A_DOCUMENT, ANOTHER_DATASET, a_passage, a_point, a_scope
from tests.contract.ports.store_samples import (
    A_TERM,
    BOTH,
    COLLECTION,
    DIMENSION,
    MINE,
    OTHER_TERM,
    a_document_id,
    a_fence,
    a_placed_point,
    a_vector,
)
from tests.contract.ports.store_samples import (
    vectors as some,
)

EVERYTHING = PointFilter()
Arm = DenseArm | TermArm


async def stored(vectors: VectorStore, scope: Scope = MINE) -> Mapping[ids.PassageId, tuple[str, int | None]]:
    """Speaker and time of everything readable."""
    found = await vectors.nominate(scope, [DenseArm(a_vector(1.0))], EVERYTHING)
    said = zip(found.speakers, found.occurred_ms, strict=True)
    return dict(zip(found.candidates, said, strict=True))


async def nearest(
    vectors: VectorStore, *numbers: float, scope: Scope = MINE, limit: int = 10, where: PointFilter = EVERYTHING
) -> Sequence[Nominee]:
    return (await vectors.search(scope, [DenseArm(a_vector(*numbers), limit)], where))[0]


async def test_every_arm_ranks_by_its_own_score(vectors: VectorStore) -> None:
    far = replace(a_placed_point("far", 0.0, 1.0), vectors=some(0.0, 1.0, terms={A_TERM: 2.0, OTHER_TERM: 1.0}))
    near = replace(
        a_placed_point("near", 1.0), vectors=some(1.0, terms={A_TERM: 1.0}, window={OTHER_TERM: 4.0})
    )
    await vectors.upsert(MINE, a_fence(), [far, near])
    arms: list[Arm] = [
        DenseArm(a_vector(1.0, 0.5)),
        TermArm({A_TERM: 1.0, OTHER_TERM: 0.5}),
        TermArm({OTHER_TERM: 0.25}, of_window=True),
        TermArm({ids.TermId(123): 1.0}),
    ]

    dense, terms, window, nothing = await vectors.search(MINE, arms, EVERYTHING)

    assert [hit.passage for hit in dense] == [near.passage, far.passage]
    assert [hit.score for hit in dense] == pytest.approx([2 / 5**0.5, 1 / 5**0.5], abs=1e-3)
    assert [hit.passage for hit in terms] == [far.passage, near.passage]
    assert [hit.score for hit in terms] == pytest.approx([2.5, 1.0])
    assert [hit.passage for hit in window] == [near.passage]
    assert [hit.score for hit in window] == pytest.approx([1.0])
    assert nothing == []


@pytest.mark.promise("P5")
async def test_unreadable_points_change_neither_results_nor_scores_nor_order(vectors: VectorStore) -> None:
    mine = [a_placed_point(f"mine {n}", 1.0, n / 10, terms={A_TERM: 1.0}) for n in range(5)]
    arms: list[Arm] = [DenseArm(a_vector(1.0), 3), TermArm({A_TERM: 1.0, OTHER_TERM: 1.0}, limit=3)]
    await vectors.upsert(MINE, a_fence(), mine)
    alone = await vectors.search(MINE, arms, EVERYTHING)
    foreign = [
        a_placed_point(f"foreign {n}", 1.0, terms={A_TERM: 9.0, OTHER_TERM: 9.0}, dataset=ANOTHER_DATASET)
        for n in range(200)
    ]
    await vectors.upsert(BOTH, a_fence(2), foreign)

    assert await vectors.search(MINE, arms, EVERYTHING) == alone
    assert await vectors.count(MINE) == 5
    assert await vectors.count(MINE, Erasure(ANOTHER_DATASET, foreign[0].document)) == 0
    await vectors.erase(BOTH, a_fence(3), Erasure(ANOTHER_DATASET, below_generation=9))
    assert await vectors.search(MINE, arms, EVERYTHING) == alone


async def test_a_scope_that_reads_nothing_finds_nothing(vectors: VectorStore) -> None:
    await vectors.upsert(MINE, a_fence(), [a_placed_point("one", 1.0)])

    assert await nearest(vectors, 1.0, scope=a_scope([])) == []
    assert await vectors.count(a_scope([])) == 0


async def test_a_scope_that_may_only_read_writes_nothing(vectors: VectorStore) -> None:
    reader = a_scope([A_DATASET], writable=[])

    with pytest.raises(ForbiddenError):
        await vectors.upsert(reader, a_fence(), [a_placed_point("one", 1.0)])
    with pytest.raises(ForbiddenError):
        await vectors.erase(reader, a_fence(), Erasure(A_DATASET, A_DOCUMENT))

    assert await vectors.count(reader) == 0


async def test_ties_are_broken_by_id_also_where_the_limit_cuts(vectors: VectorStore) -> None:
    points = [a_placed_point(f"twin {n}", 1.0) for n in range(60)]
    for seq, point in enumerate(reversed(points)):
        await vectors.upsert(MINE, a_fence(seq), [point])
    arms: list[Arm] = [DenseArm(a_vector(1.0), 7), TermArm({A_TERM: 1.0}, limit=7)]
    first_by_id = sorted(point.passage for point in points)[:7]

    before = await vectors.search(MINE, arms, EVERYTHING)
    await vectors.optimise()
    after = await vectors.search(MINE, arms, EVERYTHING)

    assert [[hit.passage for hit in hits] for hits in before] == [first_by_id, first_by_id]
    assert after == before


async def test_a_filter_lies_inside_every_arm(vectors: VectorStore) -> None:
    def at(text: str, session: str, occurred_ms: int | None) -> Point:
        passage = a_passage(text, session=session, occurred_ms=occurred_ms, document=a_document_id(text))
        return a_point(passage, some(1.0))

    early, late, timeless = at("early", "s1", 99), at("late", "s2", 100), at("timeless", "sé/2", None)
    await vectors.upsert(MINE, a_fence(), [early, late, timeless])

    async def found(where: PointFilter) -> set[str]:
        arms: list[Arm] = [DenseArm(a_vector(1.0)), TermArm({A_TERM: 1.0})]
        dense, terms = await vectors.search(MINE, arms, where)
        assert [hit.passage for hit in dense] == [hit.passage for hit in terms]
        return {hit.passage for hit in dense}

    assert await found(PointFilter(occurred=(99, 100))) == {early.passage}
    assert await found(PointFilter(occurred=(0, 101))) == {early.passage, late.passage}
    assert await found(PointFilter(sessions=["s2", "sé/2"])) == {late.passage, timeless.passage}
    assert await found(PointFilter(occurred=(0, 100), sessions=["s2"])) == set()


async def test_a_nomination_shows_what_was_written_and_erased_since_the_last(vectors: VectorStore) -> None:
    passage = a_passage("first", speaker="Anna")
    await vectors.upsert(MINE, a_fence(), [a_point(passage, some(1.0, tokens=bytes(48)))])
    await stored(vectors)

    await vectors.upsert(MINE, a_fence(2), [a_point(replace(passage, speaker="Berta"), some(1.0))])
    assert await stored(vectors) == {passage.id: ("Berta", passage.occurred_ms)}

    await vectors.erase(MINE, a_fence(3), Erasure(passage.dataset, passage.document))
    assert await stored(vectors) == {}


async def test_repeating_an_upsert_changes_nothing(vectors: VectorStore) -> None:
    point = a_placed_point("one", 1.0)
    await vectors.upsert(MINE, a_fence(), [point])
    once = await nearest(vectors, 1.0)

    await vectors.upsert(MINE, a_fence(), [point, point])

    assert await nearest(vectors, 1.0) == once
    assert await vectors.count(MINE) == 1


async def test_a_lower_change_never_replaces_a_higher_one(vectors: VectorStore) -> None:
    newer = a_placed_point("one", 1.0)
    older = replace(newer, vectors=some(0.0, 1.0), speaker="older")
    await vectors.upsert(MINE, a_fence(5), [newer])

    await vectors.upsert(MINE, a_fence(4), [older, a_placed_point("two", 0.0, 1.0)])

    assert (await stored(vectors))[newer.passage] == ("", newer.occurred_ms)
    assert (await nearest(vectors, 1.0))[0].score == pytest.approx(1.0, abs=1e-3)
    assert await vectors.count(MINE) == 2


async def test_an_upsert_replaces_the_whole_point(vectors: VectorStore) -> None:
    point = a_placed_point("one", 1.0, terms={A_TERM: 1.0})
    await vectors.upsert(MINE, a_fence(1), [replace(point, occurred_ms=5, speaker="Ada")])

    await vectors.upsert(MINE, a_fence(2), [replace(point, vectors=some(1.0, terms={OTHER_TERM: 1.0}))])

    assert await stored(vectors) == {point.passage: ("", None)}
    assert await vectors.search(MINE, [TermArm({A_TERM: 1.0})], EVERYTHING) == [[]]


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e39], ids=str)
async def test_a_number_that_is_not_finite_refuses_the_whole_call(vectors: VectorStore, number: float) -> None:
    good, bad = a_placed_point("good", 1.0), a_placed_point("bad", 1.0)
    in_terms = replace(bad, vectors=some(1.0, terms={A_TERM: number}))
    in_window = replace(bad, vectors=some(1.0, window={A_TERM: number}))
    query = np.full(DIMENSION, number if abs(number) != 1e39 else np.inf, dtype=np.float32)
    in_dense = replace(bad, vectors=replace(some(1.0), dense=query.astype(np.float16)))

    for point in (in_terms, in_window, in_dense):
        with pytest.raises(InvalidInputError):
            await vectors.upsert(MINE, a_fence(), [good, point])
    arms: list[Arm] = [DenseArm(query), TermArm({A_TERM: number})]
    for arm in arms:
        with pytest.raises(InvalidInputError):
            await vectors.search(MINE, [arm], EVERYTHING)

    assert await vectors.count(MINE) == 0


async def test_a_vector_of_another_dimension_is_refused(vectors: VectorStore) -> None:
    with pytest.raises(MisconfiguredError):
        await vectors.search(MINE, [DenseArm(np.ones(DIMENSION + 1, dtype=np.float32))], EVERYTHING)


@pytest.mark.parametrize("other", [replace(COLLECTION, model="other 2"), replace(COLLECTION, dimension=9)])
async def test_another_model_is_refused_with_what_to_do(vectors: VectorStore, other: Collection) -> None:
    await vectors.close()

    with pytest.raises(MisconfiguredError, match="choose the former model again, or embed"):
        await vectors.open(other)
    await vectors.open(COLLECTION)

    assert await vectors.count(MINE) == 0


async def test_collections_keep_apart_whatever_their_names(vectors: VectorStore) -> None:
    for number, name in enumerate(["main", "Main", "../名前/main"]):
        await vectors.open(replace(COLLECTION, name=name))

        assert await vectors.count(MINE) == 0
        await vectors.upsert(MINE, a_fence(), [a_placed_point(f"{number} {n}", 1.0) for n in range(number + 1)])

    await vectors.open(replace(COLLECTION, name="../名前/main"))
    assert await vectors.count(MINE) == 3


async def write_three_revisions(vectors: VectorStore) -> dict[str, Point]:
    """One document: a point that stayed, one only of revision 1, one new in revision 2; and a neighbour."""
    neighbour = a_document_id("neighbour")
    points = {
        "stayed": replace(a_point(a_passage("Stayed.", order=0), some(1.0)), last_revision=2),
        "retired": a_point(a_passage("Retired.", order=1), some(1.0)),
        "new": a_point(a_passage("New.", order=2, revision=2), some(1.0)),
        "neighbour": replace(
            a_point(a_passage("Neighbour.", document=neighbour), some(1.0)), dataset_generation=1
        ),
    }
    await vectors.upsert(MINE, a_fence(3), list(points.values()))
    return points


@pytest.mark.parametrize(
    ("what", "gone"),
    [
        (Erasure(A_DATASET, A_DOCUMENT), {"stayed", "retired", "new"}),
        (Erasure(A_DATASET, A_DOCUMENT, last_revision_below=2), {"retired"}),
        (Erasure(A_DATASET, A_DOCUMENT, first_revision=2), {"new"}),
        (Erasure(A_DATASET, below_generation=1), {"stayed", "retired", "new"}),
        (Erasure(A_DATASET, below_generation=2), {"stayed", "retired", "new", "neighbour"}),
        (Erasure(A_DATASET, below_generation=0), set()),
        (Erasure(ANOTHER_DATASET, A_DOCUMENT), set()),
    ],
)
@pytest.mark.promise("P3")
async def test_an_erasure_removes_what_it_means(vectors: VectorStore, what: Erasure, gone: set[str]) -> None:
    points = await write_three_revisions(vectors)
    counted = await vectors.count(BOTH, what)

    await vectors.erase(BOTH, a_fence(4), what)

    left = set(await stored(vectors, BOTH))
    assert {name for name, point in points.items() if point.passage not in left} == gone
    assert counted == len(gone)
    assert await vectors.count(BOTH, what) == 0
    assert {hit.passage for hit in await nearest(vectors, 1.0)} == left


async def test_a_repeated_erasure_of_a_failed_job_spares_its_retry(vectors: VectorStore) -> None:
    failed = a_point(a_passage(revision=2), some(1.0))
    what = Erasure(A_DATASET, A_DOCUMENT, first_revision=2)
    await vectors.upsert(MINE, a_fence(1), [failed])
    await vectors.erase(MINE, a_fence(2), what)
    await vectors.upsert(MINE, a_fence(3), [failed])

    await vectors.erase(MINE, a_fence(2), what)

    assert await vectors.count(MINE) == 1
