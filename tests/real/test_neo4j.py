"""What only a server can do to the graph: others at the same time, away, back again, or set up wrongly."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest
from neo4j import AsyncManagedTransaction

from dormouse.adapters.graph_store import neo4j as adapter
from dormouse.adapters.graph_store import neo4j_cypher as cypher
from dormouse.adapters.graph_store.neo4j import Neo4jGraphStore, assert_fence
from dormouse.adapters.graph_store.neo4j_bolt import Work, run
from dormouse.errors import InvalidInputError, LeaseLostError, StoreUnavailableError
from dormouse.model.change import Erasure
from dormouse.model.memory import Claim
from dormouse.ports.graph_store import ClaimQuery, GraphCounts, GraphRows
from dormouse.server_settings import GraphSettings
from tests.builders import A_DATASET, A_DOCUMENT, A_WORKSPACE, NOW_MS, a_passage
from tests.contract.ports.store_samples import MINE, a_document_id, a_fence, a_version, an_entity, files_holding
from tests.real.graph_documents import WRITTEN, a_document, held
from tests.toolchain import neo4j
from tests.toolchain.neo4j import Neo4jPrograms, Neo4jServer

PATIENCE_S = 60
EVERYTHING = Erasure(A_DATASET, below_generation=9)


@pytest.fixture
def mortal(neo4j_programs: Neo4jPrograms) -> Iterator[Neo4jServer]:
    """A server that may be killed."""
    with neo4j.running(neo4j_programs) as server:
        yield server


async def until_somebody_waits(server: Neo4jServer) -> None:
    waiting = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"
    async with asyncio.timeout(PATIENCE_S):
        while not await asyncio.to_thread(server.run, waiting):  # noqa: ASYNC110  the server rings no bell
            await asyncio.sleep(0.01)


@pytest.mark.promise("P8")
async def test_a_server_killed_amid_writes_keeps_what_it_acknowledged_and_nothing_half(
    mortal: Neo4jServer,
) -> None:
    store = await Neo4jGraphStore.open(mortal.settings())
    acknowledged = [0]

    async def write_on() -> None:
        for number in count(1):
            await store.write(MINE, a_fence(number), a_document(number))
            acknowledged.append(number)
            if number == 12:
                enough.set()

    enough = asyncio.Event()
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        writing = group.create_task(_refused(write_on()))
        await enough.wait()
        await asyncio.to_thread(mortal.kill)
        assert await writing == "the graph store does not answer"

    await asyncio.to_thread(mortal.start)
    last = acknowledged[-1]
    for number in range(1, last + 1):
        assert await held(store, number) == list(a_document(number).passages)
    # The one under way may have been committed before its answer was lost; a part of it never.
    under_way = await held(store, last + 1)
    assert under_way in ([], list(a_document(last + 1).passages))
    written = last + bool(under_way)
    assert await store.count(MINE) == GraphCounts(written * WRITTEN, 1, written * WRITTEN)
    assert await store.reached(A_WORKSPACE) == written
    await store.close()


async def _refused(doing: object) -> str:
    assert asyncio.iscoroutine(doing)
    with pytest.raises(StoreUnavailableError) as told:
        await doing
    return str(told.value)


@pytest.mark.promise("P8")
async def test_a_server_that_dies_before_a_commit_leaves_nothing_of_it(mortal: Neo4jServer) -> None:
    store = await Neo4jGraphStore.open(mortal.settings())
    await store.write(MINE, a_fence(), a_document(1))

    async def outlived(tx: AsyncManagedTransaction) -> None:
        await assert_fence(tx, A_WORKSPACE, 1, 2)
        await run(tx, "MATCH (p:Passage) DETACH DELETE p", {})
        mortal.kill()

    with pytest.raises(StoreUnavailableError):
        await store._bolt.write(outlived)
    with pytest.raises(StoreUnavailableError):
        await held(store, 1)
    await asyncio.to_thread(mortal.start)

    assert await held(store, 1) == list(a_document(1).passages)
    assert await store.reached(A_WORKSPACE) == 1
    await store.close()


async def test_a_write_under_way_is_done_before_its_successor_is_known(
    neo4j_graph: Neo4jGraphStore, neo4j_server: Neo4jServer
) -> None:
    """And the next one of the same holder is refused: nothing of it comes after `adopt` has returned."""
    await neo4j_graph.adopt(A_WORKSPACE, 1)
    goes_on = asyncio.Event()

    async def slow(tx: AsyncManagedTransaction) -> None:
        await assert_fence(tx, A_WORKSPACE, 1, 1)
        await goes_on.wait()

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        old = group.create_task(neo4j_graph._bolt.write(slow))
        await _until_locked(neo4j_server)
        successor = group.create_task(neo4j_graph.adopt(A_WORKSPACE, 2))
        await until_somebody_waits(neo4j_server)
        assert not successor.done()
        goes_on.set()
    with pytest.raises(LeaseLostError):
        await neo4j_graph.write(MINE, a_fence(2), a_document(1))

    assert old.done()
    assert await neo4j_graph.reached(A_WORKSPACE) == 1
    assert await held(neo4j_graph, 1) == []


async def _until_locked(server: Neo4jServer) -> None:
    """Some transaction holds a lock for writing."""
    locked = "SHOW TRANSACTIONS YIELD activeLockCount RETURN max(activeLockCount)"
    async with asyncio.timeout(PATIENCE_S):
        while (await asyncio.to_thread(server.run, locked))[0][0] in (None, 0):  # noqa: ASYNC110  nor here
            await asyncio.sleep(0.01)


async def test_a_late_write_that_waited_for_its_successor_takes_no_effect(
    neo4j_graph: Neo4jGraphStore, neo4j_server: Neo4jServer
) -> None:
    """It had begun before the new epoch was stored."""
    await neo4j_graph.adopt(A_WORKSPACE, 1)
    goes_on = asyncio.Event()

    async def adopting(tx: AsyncManagedTransaction) -> None:
        await assert_fence(tx, A_WORKSPACE, 2, None)
        await run(tx, cypher.STORE_EPOCH, {"workspace": A_WORKSPACE, "epoch": 2})
        await goes_on.wait()

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        group.create_task(neo4j_graph._bolt.write(adopting))
        await _until_locked(neo4j_server)
        late = group.create_task(_lost(neo4j_graph.write(MINE, a_fence(1), a_document(1))))
        await until_somebody_waits(neo4j_server)
        goes_on.set()

    assert late.result()
    assert await neo4j_graph.count(MINE) == GraphCounts(0, 0, 0)


async def _lost(doing: object) -> bool:
    assert asyncio.iscoroutine(doing)
    with pytest.raises(LeaseLostError):
        await doing
    return True


async def test_many_who_write_the_same_entities_do_not_stop_each_other(neo4j_graph: Neo4jGraphStore) -> None:
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        for number in range(1, 9):
            group.create_task(neo4j_graph.write(MINE, a_fence(number), a_document(number)))

    assert await neo4j_graph.count(MINE) == GraphCounts(8 * WRITTEN, 1, 8 * WRITTEN)
    assert await neo4j_graph.reached(A_WORKSPACE) == 8


async def test_a_large_erasure_goes_in_parts_and_is_noted_with_the_last(
    neo4j_graph: Neo4jGraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter, "BATCH", 7)
    for number in (1, 2):
        await neo4j_graph.write(MINE, a_fence(number), a_document(number))
    seen: list[int] = []
    write = neo4j_graph._bolt.write

    async def watched(work: Work[list[str]]) -> list[str]:
        left = await write(work)
        seen.append(await neo4j_graph.reached(A_WORKSPACE))
        return left

    monkeypatch.setattr(neo4j_graph._bolt, "write", watched)
    await neo4j_graph.erase(MINE, a_fence(3), EVERYTHING)

    assert seen == [2] * 5 + [3]
    assert await neo4j_graph.count(MINE) == GraphCounts(0, 0, 0)


async def test_an_erasure_that_lost_its_lease_halfway_is_not_noted(
    neo4j_graph: Neo4jGraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter, "BATCH", 7)
    await neo4j_graph.write(MINE, a_fence(1), a_document(1))
    write = neo4j_graph._bolt.write

    async def overtaken(work: Work[list[str]]) -> list[str]:
        left = await write(work)
        await write(lambda tx: run(tx, cypher.STORE_EPOCH, {"workspace": A_WORKSPACE, "epoch": 2}))
        return left

    monkeypatch.setattr(neo4j_graph._bolt, "write", overtaken)
    with pytest.raises(LeaseLostError):
        await neo4j_graph.erase(MINE, a_fence(2), EVERYTHING)

    assert await neo4j_graph.reached(A_WORKSPACE) == 1
    assert (await neo4j_graph.count(MINE)).passages == WRITTEN - 7


@pytest.mark.promise("P3")
async def test_the_servers_files_lose_what_was_erased_when_more_was_written(
    neo4j_programs: Neo4jPrograms,
) -> None:
    """As docs/operations.md has it set up, with a smaller log and more checkpoints, for the sake of time."""
    shorter = {
        "db.tx_log.rotation.size": "128k",
        "db.tx_log.rotation.retention_policy": "keep_none",
        "db.checkpoint.interval.time": "1s",
    }
    with neo4j.running(neo4j_programs, settings=shorter) as server:
        store = await Neo4jGraphStore.open(server.settings())
        passage = a_passage("Zanzibarquux " * 40)
        rows = GraphRows((passage,), (an_entity("Zanzibarquux"),), (), (a_version(passage, "Zanzibarquux."),))
        await store.write(MINE, a_fence(), rows)
        held_once = _holding(server, b"Zanzibarquux")
        await store.erase(MINE, a_fence(2), Erasure(A_DATASET, A_DOCUMENT))

        try:
            async with asyncio.timeout(2 * PATIENCE_S):
                for number in count(3):
                    more = a_passage(f"{number} " * 400, document=a_document_id(str(number)))
                    await store.write(MINE, a_fence(number), GraphRows(passages=(more,)))
                    if _holding(server, b"Zanzibarquux") == []:
                        break
        finally:
            await store.close()

    assert held_once != []


def _holding(server: Neo4jServer, needle: bytes) -> list[str]:
    while True:
        try:
            return files_holding(server.folder / "data", needle)
        except FileNotFoundError:  # a log was taken out meanwhile
            continue


async def test_a_graph_made_anew_is_refused_to_every_process_until_it_is_whole(
    neo4j_graph: Neo4jGraphStore, graph_settings: GraphSettings
) -> None:
    elsewhere = await Neo4jGraphStore.open(graph_settings)
    await neo4j_graph.write(MINE, a_fence(5, epoch=3), a_document(1))
    await neo4j_graph.adopt(A_WORKSPACE, 3)

    await neo4j_graph.renew()
    with pytest.raises(StoreUnavailableError, match="is being rebuilt"):
        await held(elsewhere, 1)
    with pytest.raises(LeaseLostError):  # whoever lost the lease before has not got it back
        await elsewhere.write(MINE, a_fence(6, epoch=2), a_document(2))
    empty, reached = await elsewhere.count(MINE), await elsewhere.reached(A_WORKSPACE)
    await neo4j_graph.write(MINE, a_fence(5, epoch=3), a_document(1))
    await neo4j_graph.complete()
    found = await held(elsewhere, 1)
    await elsewhere.close()

    assert (empty, reached) == (GraphCounts(0, 0, 0), 0)
    assert found == list(a_document(1).passages)


async def test_text_that_cannot_be_stored_is_refused_and_text_of_any_length_is_not(
    neo4j_graph: Neo4jGraphStore,
) -> None:
    """An index of the server refuses what is longer than eight thousand bytes."""
    long = "x" * 20_000
    passage = replace(a_passage(long), external_id=long)
    claimed = a_version(passage, long, claim=Claim(long, "lives_in", long))

    with pytest.raises(InvalidInputError):
        await neo4j_graph.write(MINE, a_fence(), GraphRows(passages=(replace(a_passage(), text="\ud800"),)))
    await neo4j_graph.write(MINE, a_fence(), GraphRows(passages=(passage,), versions=(claimed,)))

    assert await neo4j_graph.memories(MINE, ClaimQuery({(long, "lives_in")}, NOW_MS)) == [claimed]
