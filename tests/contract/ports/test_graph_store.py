"""The graph's port, on every adapter of it."""

from dataclasses import replace

import pytest

from dormouse import ids
from dormouse.errors import ForbiddenError, LeaseLostError
from dormouse.model.change import Erasure
from dormouse.model.entity import Mention, Relation
from dormouse.model.interval import Interval
from dormouse.model.memory import Claim
from dormouse.model.passage import Passage, PassageKind, Precision
from dormouse.ports.graph_store import ClaimQuery, GraphCounts, GraphRows, GraphStore, MemoryQuery
from dormouse.ports.graph_upkeep import GraphUpkeep
from tests.builders import A_DATASET, A_DOCUMENT, A_WORKSPACE, ANOTHER_DATASET, NOW_MS, a_passage, a_scope
from tests.contract.ports.store_samples import (
    BOTH,
    MINE,
    a_document_id,
    a_fence,
    a_version,
    an_entity,
)


def rows_of(*passages: Passage) -> GraphRows:
    return GraphRows(passages=passages)


def a_foreign_passage(text: str = "Grace lives in Paris.") -> Passage:
    return a_passage(text, dataset=ANOTHER_DATASET, document=a_document_id(text, ANOTHER_DATASET))


async def test_a_passage_comes_back_as_it_was_written(graph: GraphStore) -> None:
    passage = replace(
        a_passage(
            "Grüße 你好 مرحبا Xin chào 👩‍👩‍👧 'quote\" ; -- \x01",
            kind=PassageKind.TURN,
            session="séance/№ 1 \n 2",
            heading="Ünïcode",
            speaker="Đặng",
            role="user",
            occurred_ms=-1,
            previous=(ids.PassageId("p-2"), ids.PassageId("p-1")),
        ),
        offset_minutes=-90,
        precision=Precision.DAY,
        external_id="",
    )
    plain = a_passage("Plain.", order=1)

    await graph.write(MINE, a_fence(), rows_of(passage, plain))

    assert sorted(await graph.passages(MINE, [passage.id, plain.id]), key=lambda one: one.order) == [
        passage,
        plain,
    ]


async def test_ids_that_are_not_there_are_left_out(graph: GraphStore) -> None:
    passage = a_passage()
    await graph.write(MINE, a_fence(), rows_of(passage))

    found = await graph.passages(
        MINE, [passage.id, ids.PassageId("nobody"), ids.PassageId("'; --"), passage.id]
    )

    assert found == [passage]


@pytest.mark.promise("P5")
async def test_what_lies_in_an_unreadable_dataset_is_not_seen(graph: GraphStore) -> None:
    mine, foreign = a_passage(), a_foreign_passage()
    entity = an_entity("Grace", ANOTHER_DATASET)
    rows = GraphRows(
        passages=(mine, foreign),
        entities=(entity,),
        mentions=(Mention(entity.id, foreign.id),),
        versions=(a_version(foreign),),
    )
    await graph.write(BOTH, a_fence(), rows)

    assert await graph.passages(MINE, [mine.id, foreign.id]) == [mine]
    assert await graph.passages_of(MINE, foreign.document) == []
    assert await graph.matching(MINE, Erasure(ANOTHER_DATASET, foreign.document), limit=9) == []
    assert await graph.memories(MINE, MemoryQuery([foreign.id], NOW_MS)) == []
    assert await graph.entities_in(MINE, [foreign.id]) == []
    assert await graph.count(MINE) == GraphCounts(passages=1, entities=0, versions=0)
    assert await graph.count(MINE, Erasure(ANOTHER_DATASET, foreign.document)) == GraphCounts(0, 0, 0)


@pytest.mark.promise("P5")
async def test_another_workspace_sees_nothing(graph: GraphStore) -> None:
    passage = a_passage()
    await graph.write(MINE, a_fence(), rows_of(passage))

    elsewhere = replace(MINE, workspace=ids.WorkspaceId("elsewhere"))

    assert await graph.passages(elsewhere, [passage.id]) == []
    assert await graph.count(elsewhere) == GraphCounts(0, 0, 0)


async def test_a_scope_that_may_only_read_writes_nothing(graph: GraphStore) -> None:
    reader = a_scope([A_DATASET], writable=[])

    with pytest.raises(ForbiddenError):
        await graph.write(reader, a_fence(), rows_of(a_passage()))
    with pytest.raises(ForbiddenError):
        await graph.erase(reader, a_fence(), Erasure(A_DATASET, A_DOCUMENT))

    assert await graph.count(reader) == GraphCounts(0, 0, 0)


async def test_repeating_a_write_changes_nothing(graph: GraphStore) -> None:
    passage, entity = a_passage(), an_entity()
    version = a_version(passage, entities=(entity.id,))
    rows = GraphRows(
        (passage,), (entity,), (Mention(entity.id, passage.id),), (version,), {version.id: NOW_MS + 5}
    )
    await graph.write(MINE, a_fence(), rows)
    once = await graph.memories(MINE, MemoryQuery([passage.id], NOW_MS))

    await graph.write(MINE, a_fence(), rows)

    assert await graph.memories(MINE, MemoryQuery([passage.id], NOW_MS)) == once
    assert await graph.passages(MINE, [passage.id]) == [passage]
    assert await graph.count(MINE) == GraphCounts(passages=1, entities=1, versions=1)


async def test_a_lower_change_never_replaces_a_higher_one(graph: GraphStore) -> None:
    newer, older = a_passage(speaker="newer"), a_passage(speaker="older")
    await graph.write(MINE, a_fence(5), rows_of(newer))

    await graph.write(MINE, a_fence(4), rows_of(older, a_passage("Beside it.", order=1)))

    assert await graph.passages(MINE, [newer.id]) == [newer]
    assert (await graph.count(MINE)).passages == 2


async def test_a_lower_epoch_is_refused_before_anything_is_written(graph: GraphStore) -> None:
    await graph.write(MINE, a_fence(1, epoch=3), rows_of(a_passage()))
    await graph.adopt(A_WORKSPACE, 4)

    with pytest.raises(LeaseLostError):
        await graph.write(MINE, a_fence(2, epoch=3), rows_of(a_passage("Late.", order=1)))
    with pytest.raises(LeaseLostError):
        await graph.erase(MINE, a_fence(2, epoch=3), Erasure(A_DATASET, A_DOCUMENT))
    with pytest.raises(LeaseLostError):
        await graph.adopt(A_WORKSPACE, 3)
    await graph.write(MINE, a_fence(2, epoch=4), rows_of())

    assert (await graph.count(MINE)).passages == 1


async def test_a_documents_passages_come_in_order_a_page_at_a_time(graph: GraphStore) -> None:
    passages = [a_passage(f"Number {order}.", order=order) for order in range(5)]
    await graph.write(MINE, a_fence(), rows_of(*reversed(passages)))

    first = await graph.passages_of(MINE, A_DOCUMENT, limit=3)
    rest = await graph.passages_of(MINE, A_DOCUMENT, after_order=first[-1].order, limit=3)

    assert [*first, *rest] == passages


async def test_memories_are_those_believed_then_and_true_then(graph: GraphStore) -> None:
    passage = a_passage()
    past = a_version(passage, "Ada lived in Leeds.", valid=Interval(100, 200))
    present = a_version(passage, "Ada lives in London.", valid=Interval(200))
    await graph.write(MINE, a_fence(), GraphRows(passages=(passage,), versions=(past, present)))
    await graph.write(MINE, a_fence(2), GraphRows(closed={past.id: NOW_MS + 10}))

    async def found(known_at_ms: int, valid_at_ms: int | None = None) -> set[str]:
        query = MemoryQuery([passage.id], known_at_ms, valid_at_ms)
        return {version.content for version in await graph.memories(MINE, query)}

    assert await found(NOW_MS - 1) == set()
    assert await found(NOW_MS) == {past.content, present.content}
    assert await found(NOW_MS + 9, 199) == {past.content}
    assert await found(NOW_MS + 10) == {present.content}
    assert await found(NOW_MS, 99) == set()
    assert await found(NOW_MS, 200) == {present.content}


@pytest.mark.promise("P5")
async def test_claims_are_found_by_subject_and_predicate_in_readable_datasets(graph: GraphStore) -> None:
    mine, foreign = a_passage(), a_foreign_passage()
    lives = a_version(mine, claim=Claim("ada", "lives_in", "london"), derived_by="m/1")
    works = a_version(mine, "Ada works.", claim=Claim("ada", "works_for", "acme"))
    ended = a_version(
        mine, "Ada in Rome.", claim=Claim("ada", "lives_in", "rome"), transaction=Interval(NOW_MS, NOW_MS + 5)
    )
    theirs = a_version(foreign, claim=Claim("ada", "lives_in", "paris"))
    rows = GraphRows(passages=(mine, foreign), versions=(lives, works, ended, theirs))
    await graph.write(BOTH, a_fence(), rows)

    found = await graph.memories(MINE, ClaimQuery({("ada", "lives_in"), ("grace", "lives_in")}, NOW_MS + 5))

    assert found == [lives]
    assert await graph.memories(MINE, ClaimQuery({("ada", "lives_in")}, NOW_MS + 5, limit=0)) == []


async def test_a_derived_passage_is_erased_and_counted_but_not_listed(graph: GraphStore) -> None:
    source = a_passage()
    derived = replace(a_passage("Derived.", order=0), kind=PassageKind.DERIVED, previous=(source.id,))
    await graph.write(MINE, a_fence(), rows_of(source, derived))

    assert await graph.passages_of(MINE, source.document) == [source]
    assert await graph.passages(MINE, [derived.id]) == [derived]
    assert await graph.count(MINE) == GraphCounts(passages=2, entities=0, versions=0, derived=1)
    doomed = Erasure(A_DATASET, source.document)
    assert await graph.count(MINE, doomed) == GraphCounts(passages=2, entities=0, versions=0, derived=1)

    await graph.erase(MINE, a_fence(2), doomed)

    assert await graph.count(MINE) == GraphCounts(0, 0, 0)


async def test_a_repeated_lower_change_does_not_open_a_closed_version_again(graph: GraphStore) -> None:
    passage = a_passage()
    version = a_version(passage)
    opening = GraphRows(passages=(passage,), versions=(version,))
    await graph.write(MINE, a_fence(1), opening)
    await graph.write(MINE, a_fence(2), GraphRows(closed={version.id: NOW_MS + 10}))

    await graph.write(MINE, a_fence(1), opening)

    assert await graph.memories(MINE, MemoryQuery([passage.id], NOW_MS + 10)) == []


async def write_three_revisions(graph: GraphStore) -> dict[str, Passage]:
    """One document: a passage that stayed, one only of revision 1, one new in revision 2; and a neighbour."""
    neighbour = a_document_id("neighbour")
    passages = {
        "stayed": replace(a_passage("Stayed.", order=0), first_revision=1, last_revision=2),
        "retired": a_passage("Retired.", order=1, revision=1),
        "new": a_passage("New.", order=2, revision=2),
        "neighbour": replace(a_passage("Neighbour.", document=neighbour), dataset_generation=1),
    }
    await graph.write(MINE, a_fence(3), rows_of(*passages.values()))
    return passages


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
async def test_an_erasure_removes_what_it_means_and_says_so_before(
    graph: GraphStore, what: Erasure, gone: set[str]
) -> None:
    passages = await write_three_revisions(graph)
    announced = await graph.matching(BOTH, what, limit=10)
    counted = await graph.count(BOTH, what)

    await graph.erase(BOTH, a_fence(4), what)

    left = await graph.passages(BOTH, [passage.id for passage in passages.values()])
    assert {name for name, passage in passages.items() if passage not in left} == gone
    assert {passage.id for passage in announced} == {passages[name].id for name in gone}
    assert counted.passages == len(gone)
    assert (await graph.count(BOTH, what)).passages == 0


@pytest.mark.promise("P3")
async def test_memories_and_entities_go_with_the_last_passage_that_mentions_them(graph: GraphStore) -> None:
    doomed, kept = a_passage(), a_passage("Ada likes tea.", document=a_document_id("tea"))
    ada, london = an_entity("Ada"), an_entity("London")
    mentions = (Mention(ada.id, doomed.id), Mention(london.id, doomed.id))
    versions = (a_version(doomed), a_version(kept, "Ada likes tea.", entities=(ada.id,)))
    await graph.write(MINE, a_fence(), GraphRows((doomed, kept), (ada, london), mentions, versions))
    what = Erasure(A_DATASET, doomed.document)
    announced = await graph.count(MINE, what)

    await graph.erase(MINE, a_fence(2), what)

    assert announced == GraphCounts(passages=1, entities=1, versions=1)
    assert await graph.entities_in(MINE, [doomed.id, kept.id]) == [(ada, kept.id)]
    assert await graph.memories(MINE, MemoryQuery([doomed.id, kept.id], NOW_MS)) == [versions[1]]
    assert await graph.count(MINE) == GraphCounts(passages=1, entities=1, versions=1)


async def test_a_repeated_erasure_of_a_failed_job_spares_its_retry(graph: GraphStore) -> None:
    failed, what = a_passage(revision=2), Erasure(A_DATASET, A_DOCUMENT, first_revision=2)
    await graph.write(MINE, a_fence(1), rows_of(failed))
    await graph.erase(MINE, a_fence(2), what)
    await graph.write(MINE, a_fence(3), rows_of(failed))

    await graph.erase(MINE, a_fence(2), what)

    assert await graph.passages(MINE, [failed.id]) == [failed]


@pytest.mark.promise("P3")
async def test_relations_hold_their_entities_and_go_with_their_passage(
    graph: GraphStore, graph_upkeep: GraphUpkeep
) -> None:
    doomed, kept = a_passage(), a_passage("A car.", document=a_document_id("car"))
    car, vehicle = an_entity("Car"), an_entity("Vehicle")
    relations = tuple(Relation(car.id, "is_a", vehicle.id, each.id) for each in (doomed, kept))
    rows = GraphRows(passages=(doomed, kept), entities=(car, vehicle), relations=relations)
    await graph.write(MINE, a_fence(), rows)
    await graph.write(MINE, a_fence(), rows)

    await graph.erase(MINE, a_fence(2), Erasure(A_DATASET, doomed.document))
    left = await graph_upkeep.relations_after(MINE, None, 10)
    entities = await graph_upkeep.entities_after(MINE, None, 10)
    await graph.erase(MINE, a_fence(3), Erasure(A_DATASET, kept.document))

    assert list(left) == [relations[1]]
    assert len(entities) == 2
    assert await graph_upkeep.relations_after(MINE, None, 10) == []
    assert await graph_upkeep.entities_after(MINE, None, 10) == []
