"""What only a server of vectors can do: away, back again, set up wrongly, and written to by many at once."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from dormouse.adapters.vector_store.qdrant_calls import QdrantCalls
from dormouse.adapters.vector_store.qdrant_collections import QdrantCollections, alias_of
from dormouse.adapters.vector_store.qdrant_layout import made
from dormouse.adapters.vector_store.qdrant_server import QdrantServerVectorStore, prefix_of
from dormouse.errors import InvalidInputError, MisconfiguredError, StoreUnavailableError
from dormouse.ids import WorkspaceId
from dormouse.model.change import Erasure
from dormouse.model.passage import PassageKind, Point
from dormouse.ports.vector_store import DenseArm, PointFilter, TermArm, VectorStore
from dormouse.server_settings import VectorsSettings
from tests.builders import A_WORKSPACE
from tests.contract.ports.store_samples import (
    A_TERM,
    COLLECTION,
    MINE,
    a_fence,
    a_placed_point,
    a_vector,
)
from tests.contract.ports.store_samples import (
    vectors as some,
)
from tests.toolchain import vector_server
from tests.toolchain.server_process import free_port
from tests.toolchain.vector_server import VectorServer

NEXT = replace(COLLECTION, name="main-2")
OTHER_MODEL = replace(NEXT, model="other-model 1")
ARMS: list[DenseArm | TermArm] = [DenseArm(a_vector(1.0)), TermArm({A_TERM: 1.0})]
EVERYTHING = PointFilter()


@pytest.fixture
async def called() -> AsyncIterator[Callable[[VectorsSettings], QdrantCalls]]:
    """Opens, and closes at the end."""
    opened: list[QdrantCalls] = []

    def open_calls(settings: VectorsSettings) -> QdrantCalls:
        opened.append(QdrantCalls(settings))
        return opened[-1]

    yield open_calls
    for each in opened:
        await each.close()


@pytest.fixture
def mortal() -> Iterator[VectorServer]:
    """A server that may be killed."""
    with vector_server.running() as server:
        yield server


def settings_of(server: VectorServer, **changed: object) -> VectorsSettings:
    given = VectorsSettings(url=server.url, api_key=SecretStr(server.api_key), timeout_s=5)
    return given.model_copy(update=changed)


async def answering(calls: QdrantCalls) -> None:
    """A connection that was lost is tried again within half a second."""
    async with asyncio.timeout(10):
        while True:
            try:
                return await calls.check()
            except StoreUnavailableError:
                await asyncio.sleep(0.02)


def erased(point: Point) -> Erasure:
    return Erasure(point.dataset, point.document)


async def test_a_working_server_passes_the_check(vector_calls: QdrantCalls) -> None:
    await vector_calls.check()


@pytest.mark.parametrize("key", ["wr0ng", ""])
async def test_a_wrong_key_is_named_and_not_repeated(
    called: Callable[[VectorsSettings], QdrantCalls], vector_server_process: VectorServer, key: str
) -> None:
    calls = called(settings_of(vector_server_process, api_key=SecretStr(key)))

    with pytest.raises(MisconfiguredError) as told:
        await calls.check()
    with pytest.raises(StoreUnavailableError):
        await calls.names()

    assert (told.value.setting, str(told.value)) == (
        "VECTORS__API_KEY",
        "DORMOUSE_VECTORS__API_KEY is refused by the Qdrant server",
    )


async def test_a_server_of_an_old_version_is_refused(called: Callable[[VectorsSettings], QdrantCalls]) -> None:
    """It would leave out what it does not know of a filter, and match everything."""
    with vector_server.running(version="1.17.2") as server, pytest.raises(MisconfiguredError) as told:
        await called(settings_of(server)).check()

    assert told.value.setting == "VECTORS__URL"
    assert str(told.value).endswith("1.18 or newer is needed")


async def test_a_server_that_is_not_there_is_told_by_its_setting(
    called: Callable[[VectorsSettings], QdrantCalls],
) -> None:
    calls = called(VectorsSettings(url=f"http://127.0.0.1:{free_port()}", timeout_s=2))

    with pytest.raises(StoreUnavailableError, match="does not answer at DORMOUSE_VECTORS__URL"):
        await calls.check()


@pytest.mark.promise("P8")
async def test_a_killed_server_is_told_and_found_again(
    called: Callable[[VectorsSettings], QdrantCalls], mortal: VectorServer
) -> None:
    """What was acknowledged is there afterwards, also if it was killed between two writes."""
    calls = called(settings_of(mortal))
    store = QdrantServerVectorStore(calls, A_WORKSPACE)
    await store.open(COLLECTION)
    kept: list[Point] = []

    async def write() -> None:
        while True:
            batch = [a_placed_point(f"{len(kept)} {n}", 1.0) for n in range(20)]
            await store.upsert(MINE, a_fence(len(kept)), batch)
            kept.extend(batch)
            half_way.set()

    async def write_until_it_is_gone() -> None:
        with pytest.raises(StoreUnavailableError):
            await write()

    half_way = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(write_until_it_is_gone(), name="writer")
        await half_way.wait()
        await asyncio.to_thread(mortal.kill)
    with pytest.raises(StoreUnavailableError):
        await store.nominate(MINE, ARMS, EVERYTHING)
    await asyncio.to_thread(mortal.start)

    await answering(calls)
    held = await store.points(MINE, [point.passage for point in kept])
    assert [point.passage for point in held] == sorted(point.passage for point in kept)
    assert len(await store.search(MINE, [DenseArm(a_vector(1.0), 1)], EVERYTHING)) == 1


async def test_of_writers_at_once_the_highest_change_wins(
    vector_calls: QdrantCalls, vector_workspace: WorkspaceId, vectors: VectorStore
) -> None:
    """No transaction holds them apart: the server compares the change numbers, point by point."""
    point = a_placed_point("one", 1.0)

    async def write(seq: int) -> None:
        other = QdrantServerVectorStore(vector_calls, vector_workspace)
        await other.open(COLLECTION)
        await other.upsert(MINE, a_fence(seq), [replace(point, speaker=f"change {seq}")])

    for _ in range(3):
        async with asyncio.TaskGroup() as group:
            for seq in (5, 19, 3, 20, 7, 18):
                group.create_task(write(seq))
        found = await vectors.nominate(MINE, ARMS, EVERYTHING)
        assert list(found.speakers) == ["change 20"]


async def test_text_that_is_not_unicode_is_refused(vectors: VectorStore) -> None:
    with pytest.raises(InvalidInputError):
        await vectors.upsert(MINE, a_fence(), [replace(a_placed_point("one"), speaker="\ud800")])
    with pytest.raises(InvalidInputError):
        await vectors.search(MINE, ARMS, PointFilter(sessions=["\ud800"]))

    assert await vectors.count(MINE) == 0


async def test_many_may_open_it_at_once(vector_calls: QdrantCalls, vector_workspace: WorkspaceId) -> None:
    stores = [QdrantServerVectorStore(vector_calls, vector_workspace) for _ in range(6)]

    async with asyncio.TaskGroup() as group:
        for store in stores:
            group.create_task(store.open(COLLECTION))

    await stores[0].upsert(MINE, a_fence(), [a_placed_point("one")])
    assert [await store.count(MINE) for store in stores] == [1] * 6


async def test_what_a_crash_left_half_made_is_completed(
    vector_calls: QdrantCalls, vector_workspace: WorkspaceId, vectors: VectorStore
) -> None:
    name = f"{prefix_of(vector_workspace)}{COLLECTION.name}"
    await vector_calls.client.delete_collection(name)
    await made(vector_calls, name, COLLECTION)

    await vectors.open(COLLECTION, must_exist=True)

    described = await vector_calls.collection(name)
    assert described is not None
    assert described.payload_schema.keys() == {"dataset", "document", "session", "occurred"}
    assert described.payload_schema["dataset"].model_dump()["params"]["is_tenant"] is True


@pytest.mark.promise("P3")
async def test_snapshots_go_with_what_is_forgotten(
    vector_calls: QdrantCalls, vector_workspace: WorkspaceId, vectors: VectorStore
) -> None:
    """They hold whatever was there when they were taken, and outlive their collection."""
    gone, kept = a_placed_point("gone"), a_placed_point("kept")
    await vectors.upsert(MINE, a_fence(), [gone, kept])
    name, client = f"{prefix_of(vector_workspace)}{COLLECTION.name}", vector_calls.client
    await client.create_snapshot(name)
    await client.create_full_snapshot()

    await vectors.erase(MINE, a_fence(2), erased(kept), is_forgetting=False)
    assert len(await client.list_snapshots(name)) == 1
    await vectors.erase(MINE, a_fence(3), erased(gone))

    assert await client.list_snapshots(name) == await client.list_full_snapshots() == []


@pytest.mark.promise("P3")
async def test_a_collection_that_is_replaced_leaves_no_snapshot(
    vector_calls: QdrantCalls, vector_workspace: WorkspaceId
) -> None:
    collections = QdrantCollections(vector_calls, vector_workspace)
    await collections.open(COLLECTION)
    name = f"{prefix_of(vector_workspace)}{COLLECTION.name}"
    await vector_calls.client.create_snapshot(name)
    await collections.build(NEXT)

    await collections.switch()

    await QdrantServerVectorStore(vector_calls, vector_workspace).open(COLLECTION)
    assert await vector_calls.client.list_snapshots(name) == []


async def test_other_processes_follow_a_switch_to_the_same_model(
    vector_calls: QdrantCalls, vector_workspace: WorkspaceId
) -> None:
    mine, theirs = (QdrantCollections(vector_calls, vector_workspace) for _ in range(2))
    for each in (mine, theirs):
        await each.open(COLLECTION)
    await mine.build(NEXT)
    assert mine.building is not None
    await mine.building.upsert(MINE, a_fence(), [a_placed_point("new", 1.0)])

    await mine.switch()

    assert [len(hits) for hits in await theirs.search(MINE, ARMS, EVERYTHING)] == [1, 1]


async def test_another_process_never_compares_with_another_models_vectors(
    vector_calls: QdrantCalls, vector_workspace: WorkspaceId
) -> None:
    mine, theirs = (QdrantCollections(vector_calls, vector_workspace) for _ in range(2))
    for each in (mine, theirs):
        await each.open(COLLECTION)
    await mine.build(OTHER_MODEL)

    await mine.switch()

    with pytest.raises(StoreUnavailableError):
        await theirs.search(MINE, ARMS, EVERYTHING)
    assert await mine.search(MINE, ARMS, EVERYTHING) == [[], []]


async def test_a_start_after_a_crash_moves_the_alias_to_what_the_catalog_names(
    vector_calls: QdrantCalls, vector_workspace: WorkspaceId
) -> None:
    """The crash came between the catalog's commit and the switch."""
    before = QdrantCollections(vector_calls, vector_workspace)
    await before.open(COLLECTION)
    await before.build(NEXT)

    started = QdrantCollections(vector_calls, vector_workspace)
    await started.tidy([NEXT.name])
    await started.open(NEXT, must_exist=True)

    aliases = (await vector_calls.client.get_aliases()).aliases
    alias = alias_of(vector_workspace, NEXT)
    assert [each.collection_name for each in aliases if each.alias_name == alias] == [
        f"{prefix_of(vector_workspace)}{NEXT.name}"
    ]


class _Interrupted(QdrantCalls):
    """Does something else before its second query."""

    def __init__(self, settings: VectorsSettings, meanwhile: Callable[[], Any]) -> None:
        super().__init__(settings)
        self._meanwhile, self._queries = meanwhile, 0

    async def query(self, collection: str, asked: Sequence[Any]) -> list[Sequence[Any]]:
        self._queries += 1
        if self._queries == 2:
            await self._meanwhile()
        return await super().query(collection, asked)


@pytest.mark.promise("P3")
async def test_what_is_erased_while_it_is_nominated_is_left_out(
    vectors_settings: VectorsSettings, vector_workspace: WorkspaceId, vectors: VectorStore
) -> None:
    before, gone = a_placed_point("before", 0.0, 1.0), a_placed_point("gone", 1.0)
    kept = replace(a_placed_point("kept", 1.0), kind=PassageKind.TURN, previous=(before.passage,))
    await vectors.upsert(MINE, a_fence(), [before, gone, kept])

    async def erase() -> None:
        for point in (before, gone):
            await vectors.erase(MINE, a_fence(2), erased(point))

    calls = _Interrupted(vectors_settings, erase)
    store = QdrantServerVectorStore(calls, vector_workspace)
    await store.open(COLLECTION)
    found = await store.nominate(MINE, [DenseArm(a_vector(1.0), 2)], EVERYTHING)
    await calls.close()

    assert (list(found.passages), found.previous.tolist()) == ([kept.passage], [[-1, -1]])


async def test_a_point_without_words_is_found_by_its_vector(vectors: VectorStore) -> None:
    silent = replace(a_placed_point("silent"), vectors=replace(some(1.0), terms={}))
    await vectors.upsert(MINE, a_fence(), [silent])

    dense, terms = await vectors.search(MINE, ARMS, EVERYTHING)

    assert ([hit.passage for hit in dense], terms) == ([silent.passage], [])
