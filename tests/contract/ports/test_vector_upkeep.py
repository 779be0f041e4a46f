"""The port of those who look after the vectors, on every adapter of it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from dormouse.errors import ForbiddenError
from dormouse.ids import DatasetId, PassageId
from dormouse.model.change import Erasure
from dormouse.model.passage import Point
from dormouse.ports.vector_store import DenseArm, PointFilter, TermArm, VectorStore
from dormouse.ports.vector_upkeep import PointMark, VectorUpkeep
from tests.builders import A_DATASET, ANOTHER_DATASET, a_passage, a_point, a_scope
from tests.contract.ports.store_samples import (
    A_TERM,
    BOTH,
    COLLECTION,
    MINE,
    OTHER_TERM,
    a_fence,
    a_placed_point,
    a_vector,
)
from tests.contract.ports.store_samples import (
    vectors as some,
)

NAMED_BY_HAND = DatasetId("named by hand")


def hidden(point: Point) -> Erasure:
    return Erasure(point.dataset, point.document)


async def found(vectors: VectorStore, *numbers: float) -> list[str]:
    """Every passage that any arm names."""
    arms: list[DenseArm | TermArm] = [
        DenseArm(a_vector(*(numbers or (1.0,)))),
        TermArm({A_TERM: 1.0, OTHER_TERM: 1.0}),
    ]
    return sorted({each.passage for hits in await vectors.search(MINE, arms, PointFilter()) for each in hits})


def assert_same(one: Point, other: Point) -> None:
    plain = replace(one, vectors=other.vectors)
    assert plain == other
    assert (one.vectors.terms, one.vectors.window_terms) == (other.vectors.terms, other.vectors.window_terms)
    assert one.vectors.tokens == other.vectors.tokens
    np.testing.assert_allclose(one.vectors.dense.astype(float), other.vectors.dense.astype(float), atol=1e-4)


async def test_a_point_comes_back_whole(vectors: VectorStore, vector_upkeep: VectorUpkeep) -> None:
    passage = a_passage("Hallo.", session="s", speaker="Đặng", role="user", occurred_ms=-5, order=3)
    dense = some(1.0, 0.5, terms={A_TERM: 2.0, OTHER_TERM: 0.5}, window={A_TERM: 0.25}, tokens=bytes(range(96)))
    point = replace(a_point(passage, dense), previous=(a_passage("Vorher.").id,))
    await vectors.upsert(MINE, a_fence(), [point])

    (stored,) = await vector_upkeep.points(MINE, [point.passage, PassageId(a_passage("nobody").id)])

    assert_same(stored, point)


async def test_marks_come_once_by_id(vectors: VectorStore, vector_upkeep: VectorUpkeep) -> None:
    points = [a_placed_point(f"point {n}") for n in range(5)]
    foreign = a_placed_point("foreign", dataset=ANOTHER_DATASET)
    await vectors.upsert(BOTH, a_fence(), [*points, foreign])
    await vector_upkeep.hide(MINE, a_fence(2), hidden(points[3]), is_hidden=True)

    marks: list[PointMark] = []
    while page := await vector_upkeep.marks_after(MINE, marks[-1].passage if marks else None, 2):
        marks += page

    assert [each.passage for each in marks] == sorted(each.passage for each in points)
    assert [each.passage for each in marks if each.is_hidden] == [points[3].passage]


async def test_no_arm_names_what_is_hidden_and_nothing_moves_for_it(
    vectors: VectorStore, vector_upkeep: VectorUpkeep
) -> None:
    shown, other = a_placed_point("shown", 1.0), a_placed_point("other", 1.0, 0.5, terms={OTHER_TERM: 3.0})
    await vectors.upsert(MINE, a_fence(), [shown])
    before = await searched(vectors)
    await vectors.upsert(MINE, a_fence(2), [other])

    await vector_upkeep.hide(MINE, a_fence(3), hidden(other), is_hidden=True)

    assert await searched(vectors) == before
    nomination = await vectors.nominate(MINE, [DenseArm(a_vector(1.0))], PointFilter())
    assert list(nomination.passages) == [shown.passage]
    assert await vectors.count(MINE) == 2


async def searched(vectors: VectorStore) -> Sequence[Sequence[object]]:
    arms: list[DenseArm | TermArm] = [
        DenseArm(a_vector(1.0), 1),
        TermArm({A_TERM: 1.0, OTHER_TERM: 1.0}, limit=1),
    ]
    return await vectors.search(MINE, arms, PointFilter())


@pytest.mark.parametrize("dataset", [A_DATASET, NAMED_BY_HAND])
async def test_what_is_shown_again_is_as_it_was(
    vectors: VectorStore, vector_upkeep: VectorUpkeep, dataset: DatasetId
) -> None:
    scope = a_scope([dataset])
    points = [a_point(a_passage(f"p {n}", order=n, dataset=dataset), some(1.0, n / 7)) for n in range(3)]
    await vectors.upsert(scope, a_fence(), points)
    before = await vector_upkeep.points(scope, [each.passage for each in points])

    for seq in (2, 4):
        await vector_upkeep.hide(scope, a_fence(seq), hidden(points[0]), is_hidden=True)
        hidden_ones = await vector_upkeep.points(scope, [each.passage for each in points])
        assert [each.is_hidden for each in hidden_ones] == [True] * 3
        await vector_upkeep.hide(scope, a_fence(seq + 1), hidden(points[0]), is_hidden=False)

    for one, other in zip(
        await vector_upkeep.points(scope, [each.passage for each in points]), before, strict=True
    ):
        assert_same(one, other)
        assert one.vectors.dense.tobytes() == other.vectors.dense.tobytes()


async def test_a_point_may_be_written_hidden(vectors: VectorStore, vector_upkeep: VectorUpkeep) -> None:
    point = replace(a_placed_point("late"), is_hidden=True)
    await vectors.upsert(MINE, a_fence(), [point])
    assert await found(vectors) == []

    await vector_upkeep.hide(MINE, a_fence(2), hidden(point), is_hidden=False)

    assert await found(vectors) == [point.passage]


async def test_what_is_hidden_is_erased_like_anything_else(
    vectors: VectorStore, vector_upkeep: VectorUpkeep
) -> None:
    point = a_placed_point("gone")
    await vectors.upsert(MINE, a_fence(), [point])
    await vector_upkeep.hide(MINE, a_fence(2), hidden(point), is_hidden=True)
    assert await vectors.count(MINE, hidden(point)) == 1

    await vectors.erase(MINE, a_fence(3), hidden(point))

    assert await vectors.count(MINE, hidden(point)) == 0
    assert await vector_upkeep.points(MINE, [point.passage]) == []


async def test_hiding_is_there_after_the_store_was_opened_again(
    vectors: VectorStore, vector_upkeep: VectorUpkeep
) -> None:
    point = a_placed_point("hidden")
    await vectors.upsert(MINE, a_fence(), [point])
    await vector_upkeep.hide(MINE, a_fence(2), hidden(point), is_hidden=True)

    await vectors.open(COLLECTION, must_exist=True)

    assert await found(vectors) == []


async def test_a_scope_that_may_not_write_hides_nothing(
    vectors: VectorStore, vector_upkeep: VectorUpkeep
) -> None:
    point = a_placed_point("kept")
    await vectors.upsert(MINE, a_fence(), [point])

    with pytest.raises(ForbiddenError):
        await vector_upkeep.hide(a_scope([A_DATASET], []), a_fence(2), hidden(point), is_hidden=True)


async def test_single_points_can_be_dropped_hidden_ones_too(
    vectors: VectorStore, vector_upkeep: VectorUpkeep
) -> None:
    gone, hidden_one, kept = (a_placed_point(name) for name in ("gone", "hidden", "kept"))
    foreign = a_placed_point("foreign", dataset=ANOTHER_DATASET)
    await vectors.upsert(BOTH, a_fence(), [gone, hidden_one, kept, foreign])
    await vector_upkeep.hide(MINE, a_fence(2), hidden(hidden_one), is_hidden=True)

    await vector_upkeep.drop(MINE, a_fence(3), [gone.passage, hidden_one.passage, foreign.passage])

    assert await found(vectors) == [kept.passage]
    assert await vectors.count(BOTH) == 2


async def test_marks_can_be_those_of_one_document(vectors: VectorStore, vector_upkeep: VectorUpkeep) -> None:
    mine, other = a_placed_point("mine"), a_placed_point("other")
    await vectors.upsert(MINE, a_fence(), [mine, other])
    await vector_upkeep.hide(MINE, a_fence(2), hidden(mine), is_hidden=True)

    marks = await vector_upkeep.marks_after(MINE, None, 9, document=mine.document)

    assert [each.passage for each in marks] == [mine.passage]
