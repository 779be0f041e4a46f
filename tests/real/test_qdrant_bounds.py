"""Calls to a vector server end in time, whatever it does, and are never longer than one takes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from pydantic import SecretStr

from dormouse.adapters.vector_store.qdrant_calls import QdrantCalls
from dormouse.adapters.vector_store.qdrant_collections import QdrantCollections
from dormouse.adapters.vector_store.qdrant_server import QdrantServerVectorStore
from dormouse.errors import StoreUnavailableError
from dormouse.model.change import Erasure
from dormouse.ports.vector_store import DenseArm, PointFilter
from dormouse.server_settings import VectorsSettings
from tests.builders import A_WORKSPACE
from tests.contract.ports.store_samples import COLLECTION, MINE, a_fence, a_placed_point, a_vector
from tests.toolchain import vector_server
from tests.toolchain.vector_server import VectorServer

TIMEOUT_S = 1
BOUND_S = 2.5  # of a call that is given up after a second, on a machine that has other things to do
DEFAULT_OF_GRPC = 4 << 20
ARMS = [DenseArm(a_vector(1.0))]
EVERYTHING = PointFilter()


@pytest.fixture
def stalling() -> Iterator[VectorServer]:
    """It may be stalled."""
    with vector_server.running() as server:
        try:
            yield server
        finally:
            server.kill()  # one that stands still hears no other signal


@asynccontextmanager
async def opened(server: VectorServer, timeout_s: int) -> AsyncIterator[QdrantCalls]:
    calls = QdrantCalls(VectorsSettings(url=server.url, api_key=SecretStr(server.api_key), timeout_s=timeout_s))
    try:
        yield calls
    finally:
        await calls.close()


async def given_up(call: Callable[[], Awaitable[object]]) -> None:
    with pytest.raises(StoreUnavailableError):
        async with asyncio.timeout(BOUND_S):
            await call()


@pytest.mark.promise("P8")
async def test_no_call_waits_for_a_server_that_hangs(stalling: VectorServer) -> None:
    point = a_placed_point("one", 1.0)
    ids, erased = [point.passage], Erasure(point.dataset, point.document)
    async with opened(stalling, TIMEOUT_S) as calls:
        store = QdrantServerVectorStore(calls, A_WORKSPACE)
        await store.open(COLLECTION)
        await store.upsert(MINE, a_fence(), [point])
        others = QdrantCollections(calls, A_WORKSPACE)
        stalling.stall()

        await given_up(calls.check)
        await given_up(calls.names)
        await given_up(lambda: others.open(COLLECTION))
        await given_up(lambda: store.nominate(MINE, ARMS, EVERYTHING))
        await given_up(lambda: store.search(MINE, ARMS, EVERYTHING))
        await given_up(lambda: store.count(MINE))
        await given_up(lambda: store.points(MINE, ids))
        await given_up(lambda: store.marks_after(MINE, None, 10))
        await given_up(lambda: store.tally(MINE))
        await given_up(store.optimise)
        await given_up(lambda: store.upsert(MINE, a_fence(), [point]))
        await given_up(lambda: store.erase(MINE, a_fence(), erased))
        await given_up(lambda: store.hide(MINE, a_fence(), erased, is_hidden=True))
        await given_up(lambda: store.drop(MINE, a_fence(), ids))
        await given_up(lambda: calls.remove(store.name))
        await given_up(lambda: calls.forget_snapshots(store.name))


async def test_a_server_that_goes_on_is_asked_again_at_once(stalling: VectorServer) -> None:
    async with opened(stalling, TIMEOUT_S) as calls:
        store = QdrantServerVectorStore(calls, A_WORKSPACE)
        await store.open(COLLECTION)
        await store.upsert(MINE, a_fence(), [a_placed_point("one", 1.0)])
        stalling.stall()
        await given_up(lambda: store.nominate(MINE, ARMS, EVERYTHING))
        stalling.go_on()

        (found,) = await store.search(MINE, ARMS, EVERYTHING)

        assert len(found) == 1


async def test_points_that_one_call_cannot_hold_are_written_and_read_in_several() -> None:
    long = [replace(a_placed_point(f"{number}", 1.0), speaker="s" * 8_000) for number in range(1_500)]
    with vector_server.running(most_bytes=DEFAULT_OF_GRPC) as server:
        async with opened(server, 20) as calls:
            store = QdrantServerVectorStore(calls, A_WORKSPACE)
            await store.open(COLLECTION)
            await store.upsert(MINE, a_fence(), long)

            assert await store.count(MINE) == len(long)
            held = await store.points(MINE, [point.passage for point in long])
            assert [point.passage for point in held] == sorted(point.passage for point in long)
            assert {len(point.speaker) for point in held} == {8_000}
