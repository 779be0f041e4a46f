"""Building a collection beside the one that answers, and taking its place."""

import pytest

from dormouse.errors import MisconfiguredError, StoreUnavailableError
from dormouse.model.change import Erasure
from dormouse.model.workspace import Collection
from dormouse.ports.catalog.terms import TermCounts
from dormouse.ports.vector_store import PointFilter, TermArm
from tests.builders import A_DATASET, A_DOCUMENT, a_passage, a_point, some_vectors
from tests.contract.ports.kept_collections import AnyCollections, KeptCollections
from tests.contract.ports.store_samples import COLLECTION, DIMENSION, MINE, a_fence

NEXT = Collection("main-2", COLLECTION.model, DIMENSION)
ONE = a_point(a_passage("one", order=0), some_vectors(seed=1, dimension=DIMENSION))
TWO = a_point(a_passage("two", order=1), some_vectors(seed=2, dimension=DIMENSION))
EVERYTHING = Erasure(A_DATASET, A_DOCUMENT)


@pytest.fixture
async def collections(unopened_collections: AnyCollections) -> AnyCollections:
    await unopened_collections.open(COLLECTION)
    return unopened_collections


async def test_what_is_written_is_answered_by_the_active_one_until_the_switch(
    collections: AnyCollections, kept_collections: KeptCollections
) -> None:
    await collections.upsert(MINE, a_fence(1), [ONE])
    await collections.build(NEXT)
    assert collections.building is not None
    await collections.building.upsert(MINE, a_fence(1), [ONE, TWO])
    before = await collections.count(MINE)

    await collections.switch()

    assert (before, await collections.count(MINE)) == (1, 2)
    assert await kept_collections.names() == ["main-2"]
    assert collections.building is None


async def test_erasing_reaches_both(collections: AnyCollections) -> None:
    await collections.upsert(MINE, a_fence(1), [ONE])
    await collections.build(NEXT)
    assert collections.building is not None
    await collections.building.upsert(MINE, a_fence(1), [ONE])

    await collections.erase(MINE, a_fence(2), EVERYTHING)

    assert await collections.count(MINE, EVERYTHING) == 0
    assert await collections.building.count(MINE) == 0


async def test_terms_are_counted_of_what_is_built_and_not_hidden(collections: AnyCollections) -> None:
    await collections.build(NEXT)
    assert collections.building is not None
    await collections.building.upsert(MINE, a_fence(1), [ONE, TWO])

    terms = dict.fromkeys([*ONE.vectors.terms, *TWO.vectors.terms], 1)
    assert await collections.tally(MINE) == {(A_DATASET, 0): TermCounts(2, terms)}
    await collections.hide(MINE, a_fence(2), EVERYTHING, is_hidden=True)
    assert await collections.tally(MINE) == {}


async def test_a_lost_one_is_stood_in_for(unopened_collections: AnyCollections) -> None:
    collections = unopened_collections
    collections.stand_in(COLLECTION)

    await collections.upsert(MINE, a_fence(1), [ONE])
    await collections.erase(MINE, a_fence(2), EVERYTHING)

    with pytest.raises(StoreUnavailableError, match="the vector store is being rebuilt"):
        await collections.search(MINE, [TermArm({})], PointFilter())


async def test_one_that_was_begun_and_lost_is_told(collections: AnyCollections) -> None:
    with pytest.raises(MisconfiguredError):
        await collections.build(NEXT, must_exist=True)

    assert collections.building is None


async def test_one_that_is_given_up_leaves_nothing(
    collections: AnyCollections, kept_collections: KeptCollections
) -> None:
    await collections.build(NEXT)

    await collections.abandon()

    assert await kept_collections.names() == ["main"]


async def test_what_a_crash_after_a_switch_left_is_removed(
    collections: AnyCollections, kept_collections: KeptCollections
) -> None:
    await kept_collections.leave_behind("former")

    await collections.tidy([COLLECTION.name])

    assert await kept_collections.names() == ["main"]
