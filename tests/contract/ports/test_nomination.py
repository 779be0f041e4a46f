"""What a nomination brings to a recall's scoring, on every adapter of the vectors' port."""

from dataclasses import replace
from itertools import accumulate, pairwise

import numpy as np
import pytest

from dormouse import ids
from dormouse.model.change import Erasure
from dormouse.model.passage import PassageKind
from dormouse.ports.vector_store import DenseArm, PointFilter, TermArm, VectorStore
from tests.builders import A_DATASET, ANOTHER_DATASET, a_passage, a_point
from tests.contract.ports.store_samples import (
    A_TERM,
    BOTH,
    DIMENSION,
    MINE,
    OTHER_TERM,
    a_fence,
    a_placed_point,
    a_vector,
)
from tests.contract.ports.store_samples import (
    vectors as some,
)

EVERYTHING = PointFilter()
Arm = DenseArm | TermArm


async def named(vectors: VectorStore, *arms: Arm) -> dict[str, object]:
    """All that a nomination says, as plain values."""
    found = await vectors.nominate(MINE, arms or [DenseArm(a_vector(1.0))], EVERYTHING)
    ends = list(accumulate(found.sizes.tolist(), initial=0))
    return {
        "passages": list(found.passages),
        "candidates": list(found.candidates),
        "scores": [column.tolist() for column in found.scores],
        "tokens": [found.tokens[start:end] for start, end in pairwise(ends)],
        "is_turn": found.is_turn.tolist(),
        "previous": found.previous.tolist(),
        "speakers": list(found.speakers),
        "roles": list(found.roles),
        "occurred_ms": list(found.occurred_ms),
    }


async def test_a_point_comes_back_as_it_was_written(vectors: VectorStore) -> None:
    passage = a_passage(
        "Hallo.", session="séance/№ 1 你好 👩‍👩‍👧", speaker="Đặng", role="user", occurred_ms=-5, order=3
    )
    point = replace(a_point(passage, some(1.0, tokens=bytes(range(96)))), kind=PassageKind.TURN)
    await vectors.upsert(MINE, a_fence(), [point])

    assert await named(vectors) == {
        "passages": [passage.id],
        "candidates": [passage.id],
        "scores": [[1.0]],
        "tokens": [bytes(range(96))],
        "is_turn": [True],
        "previous": [[-1, -1]],
        "speakers": ["Đặng"],
        "roles": ["user"],
        "occurred_ms": [-5],
    }


@pytest.mark.promise("P5")
async def test_unreadable_points_change_nothing_of_a_nomination(vectors: VectorStore) -> None:
    arms: list[Arm] = [DenseArm(a_vector(1.0), 3), TermArm({A_TERM: 1.0, OTHER_TERM: 1.0}, limit=3)]
    foreign = [
        replace(
            a_placed_point(f"foreign {n}", 1.0, terms={A_TERM: 9.0, OTHER_TERM: 9.0}, dataset=ANOTHER_DATASET),
            kind=PassageKind.TURN,
        )
        for n in range(200)
    ]
    mine = [
        replace(
            a_placed_point(f"mine {n}", 1.0, n / 10, terms={A_TERM: 1.0}),
            kind=PassageKind.TURN,
            previous=(foreign[n].passage,),
        )
        for n in range(5)
    ]
    await vectors.upsert(MINE, a_fence(), mine)
    alone = await named(vectors, *arms)

    await vectors.upsert(BOTH, a_fence(2), foreign)
    await vectors.nominate(BOTH, arms, EVERYTHING)  # now the store has looked at them all

    assert await named(vectors, *arms) == alone


async def test_a_nomination_is_the_union_with_its_scores_and_the_turns_before(vectors: VectorStore) -> None:
    before = replace(a_placed_point("before", 0.0, 0.0, 1.0), vectors=some(0.0, 0.0, 1.0, tokens=bytes(48)))
    foreign = a_placed_point("foreign", 1.0, terms={A_TERM: 9.0}, dataset=ANOTHER_DATASET)
    near, worded = a_placed_point("near", 1.0), a_placed_point("worded", 0.5, 1.0, terms={A_TERM: 2.0})
    near = replace(near, kind=PassageKind.TURN, previous=(foreign.passage, before.passage))
    worded = replace(worded, kind=PassageKind.TURN, previous=(near.passage,))
    await vectors.upsert(BOTH, a_fence(), [before, near, worded, foreign])
    arms: list[Arm] = [DenseArm(a_vector(1.0), 1), TermArm({A_TERM: 1.5}, limit=1)]

    found = await vectors.nominate(MINE, arms, EVERYTHING)

    union = sorted([near.passage, worded.passage])
    row = {passage: place for place, passage in enumerate(found.passages)}
    assert (list(found.candidates), list(found.passages)) == (union, [*union, before.passage])
    dense, terms = (dict(zip(found.passages, column.tolist(), strict=True)) for column in found.scores)
    likeness = {near.passage: 1.0, worded.passage: 0.2**0.5, before.passage: 0.0}
    assert dense == pytest.approx(likeness, abs=1e-3)
    assert terms == pytest.approx({near.passage: 1.5, worded.passage: 3.0, before.passage: 0.0})
    assert found.tokens[-48:] == bytes(48)
    assert found.previous[row[near.passage]].tolist() == [-1, row[before.passage]]
    assert found.previous[row[worded.passage]].tolist() == [row[near.passage], -1]
    elsewhere = await vectors.nominate(MINE, arms, PointFilter(sessions=["nowhere"]))
    assert list(elsewhere.passages) == []


async def test_a_nomination_gives_the_scores_of_the_search(vectors: VectorStore) -> None:
    draw = np.random.default_rng(7)
    points = [
        replace(
            a_placed_point(f"point {n}"),
            vectors=some(
                *draw.standard_normal(DIMENSION),
                terms={A_TERM: float(draw.uniform(0.5, 3)), ids.TermId(n): 1.0},
                window={OTHER_TERM: float(draw.uniform(0.5, 3))},
            ),
        )
        for n in range(60)
    ]
    await vectors.upsert(MINE, a_fence(), points)
    arms: list[Arm] = [
        DenseArm(3 * a_vector(*draw.standard_normal(DIMENSION)), 60),
        TermArm({A_TERM: 0.7, ids.TermId(30): 2.0}, limit=60),
        TermArm({OTHER_TERM: 1.3}, of_window=True, limit=60),
    ]

    searched, found = (
        await vectors.search(MINE, arms, EVERYTHING),
        await vectors.nominate(MINE, arms, EVERYTHING),
    )

    for hits, column in zip(searched, found.scores, strict=True):
        scores = {hit.passage: hit.score for hit in hits}
        assert dict(zip(found.passages, column.tolist(), strict=True)) == pytest.approx(scores, abs=1e-6)


async def test_a_chunk_is_nominated_without_those_before_it(vectors: VectorStore) -> None:
    before = a_placed_point("before", 0.0, 1.0)
    chunk = replace(a_placed_point("chunk", 1.0), previous=(before.passage,))
    await vectors.upsert(MINE, a_fence(), [before, chunk])

    found = await vectors.nominate(MINE, [DenseArm(a_vector(1.0), 1)], EVERYTHING)

    assert (list(found.passages), found.is_turn.tolist()) == ([chunk.passage], [False])


@pytest.mark.promise("P3")
async def test_what_was_erased_no_longer_stands_before_a_turn(vectors: VectorStore) -> None:
    before = a_placed_point("before", 0.0, 1.0)
    after = replace(a_placed_point("after", 1.0), kind=PassageKind.TURN, previous=(before.passage,))
    await vectors.upsert(MINE, a_fence(), [before, after])
    arm = DenseArm(a_vector(1.0), 1)
    assert (await named(vectors, arm))["passages"] == [after.passage, before.passage]

    await vectors.erase(MINE, a_fence(2), Erasure(A_DATASET, before.document), is_forgetting=False)

    assert (await named(vectors, arm))["passages"] == [after.passage]
