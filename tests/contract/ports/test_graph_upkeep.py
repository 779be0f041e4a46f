"""The port of those who look after the graph, on every adapter of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import pytest

from dormouse.errors import ForbiddenError, LeaseLostError
from dormouse.model.entity import Mention, Relation
from dormouse.model.interval import Interval
from dormouse.model.memory import MemoryVersion
from dormouse.ports.graph_store import GraphCounts, GraphRows, GraphStore
from dormouse.ports.graph_upkeep import GraphUpkeep
from tests.builders import A_DATASET, A_DOCUMENT, A_WORKSPACE, ANOTHER_DATASET, NOW_MS, a_passage, a_scope
from tests.contract.ports.store_samples import BOTH, MINE, a_document_id, a_fence, a_version, an_entity

Row = TypeVar("Row")


async def walked(page_after: Callable[[Row | None], object]) -> list[Row]:
    """Page by page until one is empty."""
    found: list[Row] = []
    while page := await page_after(found[-1] if found else None):  # type: ignore[misc]  # a coroutine function
        found += page
    return found


async def test_every_passage_comes_once_by_id(graph: GraphStore, graph_upkeep: GraphUpkeep) -> None:
    passages = [a_passage(f"Passage {n}.", order=n) for n in range(5)]
    foreign = a_passage(dataset=ANOTHER_DATASET, document=a_document_id("far", ANOTHER_DATASET))
    await graph.write(BOTH, a_fence(), GraphRows(passages=(*passages, foreign)))

    async def page(after: object) -> Sequence[object]:
        return await graph_upkeep.passages_after(MINE, getattr(after, "id", None), 2)

    assert await walked(page) == sorted(passages, key=lambda each: each.id)


async def test_versions_come_by_memory_with_those_believed_no_longer(
    graph: GraphStore, graph_upkeep: GraphUpkeep
) -> None:
    passage = a_passage()
    closed = a_version(passage, transaction=Interval(NOW_MS, NOW_MS + 1))
    versions = [closed, *(a_version(passage, f"Claim {n}.") for n in range(4))]
    elsewhere = a_version(a_passage(document=a_document_id("other")))
    await graph.write(MINE, a_fence(), GraphRows(passages=(passage,), versions=(*versions, elsewhere)))

    async def page(after: MemoryVersion | None) -> Sequence[MemoryVersion]:
        return await graph_upkeep.versions_of(MINE, A_DOCUMENT, after, 2)

    assert await walked(page) == sorted(versions, key=lambda each: (each.memory, each.id))


@pytest.mark.promise("P5")
async def test_entities_and_mentions_of_other_datasets_are_not_seen(
    graph: GraphStore, graph_upkeep: GraphUpkeep
) -> None:
    mine, foreign = (
        a_passage(),
        a_passage(dataset=ANOTHER_DATASET, document=a_document_id("x", ANOTHER_DATASET)),
    )
    ada, bob = an_entity("Ada"), an_entity("Bob")
    grace = replace(an_entity("Grace", ANOTHER_DATASET))
    mentions = [Mention(entity.id, passage.id) for entity in (ada, bob) for passage in (mine,)]
    await graph.write(
        BOTH,
        a_fence(),
        GraphRows(
            passages=(mine, foreign),
            entities=(ada, bob, grace),
            mentions=(*mentions, Mention(grace.id, foreign.id)),
        ),
    )

    async def entities(after: object) -> Sequence[object]:
        return await graph_upkeep.entities_after(MINE, getattr(after, "id", None), 1)

    async def mentioned(after: Mention | None) -> Sequence[Mention]:
        return await graph_upkeep.mentions_after(MINE, after, 1)

    assert await walked(entities) == sorted([ada, bob], key=lambda each: each.id)
    assert await walked(mentioned) == sorted(mentions, key=lambda each: (each.entity, each.passage))


async def test_relations_of_other_datasets_are_not_seen(graph: GraphStore, graph_upkeep: GraphUpkeep) -> None:
    mine, foreign = (
        a_passage(),
        a_passage(dataset=ANOTHER_DATASET, document=a_document_id("x", ANOTHER_DATASET)),
    )
    car, vehicle = an_entity("Car"), an_entity("Vehicle")
    others = [an_entity(name, ANOTHER_DATASET) for name in ("Car", "Vehicle")]
    seen = [Relation(car.id, name, vehicle.id, mine.id) for name in ("is_a", "is_a_kind_of")]
    hidden = Relation(others[0].id, "is_a", others[1].id, foreign.id)
    await graph.write(
        BOTH,
        a_fence(),
        GraphRows(passages=(mine, foreign), entities=(car, vehicle, *others), relations=(*seen, hidden)),
    )

    async def related(after: Relation | None) -> Sequence[Relation]:
        return await graph_upkeep.relations_after(MINE, after, 1)

    assert await walked(related) == seen


async def test_what_hangs_on_nothing_is_counted_and_goes_with_a_drop(
    graph: GraphStore, graph_upkeep: GraphUpkeep
) -> None:
    kept, gone = a_passage(), a_passage("Nobody said so.", order=1)
    ada, alone = an_entity("Ada"), an_entity("Nobody")
    await graph.write(
        MINE,
        a_fence(),
        GraphRows(
            passages=(kept, gone),
            entities=(ada, alone),
            mentions=(Mention(ada.id, kept.id), Mention(ada.id, a_passage("lost").id)),
            versions=(a_version(kept), a_version(gone, "Nobody."), a_version(a_passage("lost"), "Lost.")),
        ),
    )
    assert await graph_upkeep.strays(MINE) == 3  # an entity, a mention and a version

    await graph_upkeep.drop(MINE, a_fence(2), [gone.id])

    assert await graph_upkeep.strays(MINE) == 0
    assert await graph.count(MINE) == GraphCounts(passages=1, entities=1, versions=1)
    assert await graph.passages(MINE, [kept.id, gone.id]) == [kept]


@pytest.mark.promise("P5")
async def test_a_drop_spares_other_datasets(graph: GraphStore, graph_upkeep: GraphUpkeep) -> None:
    foreign = a_passage(dataset=ANOTHER_DATASET, document=a_document_id("x", ANOTHER_DATASET))
    stray = an_entity("Grace", ANOTHER_DATASET)
    rows = GraphRows(passages=(foreign,), entities=(stray,), versions=(a_version(foreign),))
    await graph.write(BOTH, a_fence(), rows)

    await graph_upkeep.drop(MINE, a_fence(2), [foreign.id])

    assert await graph_upkeep.strays(MINE) == 0
    assert await graph.count(BOTH) == GraphCounts(passages=1, entities=1, versions=1)


async def test_a_drop_needs_the_right_to_write_and_the_lease(
    graph: GraphStore, graph_upkeep: GraphUpkeep
) -> None:
    passage = a_passage()
    await graph.write(MINE, a_fence(epoch=2), GraphRows(passages=(passage,)))
    await graph.adopt(A_WORKSPACE, 2)

    with pytest.raises(ForbiddenError):
        await graph_upkeep.drop(a_scope([A_DATASET], []), a_fence(2, epoch=2), [passage.id])
    with pytest.raises(LeaseLostError):
        await graph_upkeep.drop(MINE, a_fence(2, epoch=1), [passage.id])

    assert await graph.passages(MINE, [passage.id]) == [passage]
