"""Moving to another embedding model: built beside, switched at once, kept for later rebuilds."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from dormouse import compose
from dormouse.adapters.embedder.choice import EmbedderChoice
from dormouse.adapters.embedder.onnx import OnnxEmbedder
from dormouse.adapters.vector_store.edge_collections import EdgeCollections
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE
from dormouse.errors import ConflictError
from dormouse.jobs.fenced_call import FencedCalls
from dormouse.model.change import ApplyLease
from dormouse.model.job import Job, JobKind, Stage
from dormouse.model.rebuild import DerivedStore
from dormouse.model.workspace import Collection
from dormouse.ports.embedder import EmbeddedText
from dormouse.ports.vector_collections import VectorCollections
from dormouse.rebuild.embed_again import EmbedAgain
from dormouse.rebuild.followers import VectorFollower
from dormouse.rebuild.parts import ModelParts
from dormouse.rebuild.request import RebuildRequests
from tests.contract.write_path.second_model import DIMENSION, HashEmbedder
from tests.contract.write_path.world import World, after_leases_ran_out, opened
from tests.hand_clock import HandClock


def requests(world: World) -> RebuildRequests:
    ports = world.ports
    return RebuildRequests(ports.catalog, ports.bus, ports.collections, ports.embedders)


async def migrate(world: World) -> Job:
    return await requests(world).migrate(LOCAL_WORKSPACE, world.principal)


async def work(world: World) -> None:
    """What the loops do, until nothing is left to embed again or to follow."""
    while await world.path.embed_again.round(LOCAL_WORKSPACE):
        await world.apply()
    await world.work()
    await world.apply()


async def dimensions(world: World) -> list[int]:
    """Of every point."""
    passages = [passage.id for passage in await world.passages()]
    points = await world.ports.vector_upkeep.points(await world.scope(), passages)
    return [len(point.vectors.dense) for point in points]


async def test_everything_has_the_new_models_vectors_after_it(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    async with opened(tmp_path, clock, embedder, HashEmbedder()) as world:
        await world.remember("Ada moved to Lisbon.", external_id="1")
        await world.work()
        job = await migrate(world)
        await world.remember("Grace keeps a cat.", external_id="2")
        await world.work()
        before = await dimensions(world)

        await work(world)

        assert before == [embedder.dimension, embedder.dimension]
        assert await dimensions(world) == [DIMENSION, DIMENSION]
        done = await world.job(job.id)
        assert (done.kind, done.stage) == (JobKind.MIGRATE_EMBEDDING, Stage.COMPLETE)
        assert world.ports.embedder.model == "hash/1"


async def test_a_rebuild_after_it_computes_nothing_again(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    new = HashEmbedder()
    async with opened(tmp_path, clock, embedder, new) as world:
        await world.remember("Ada moved to Lisbon.", external_id="1")
        await world.work()
        await migrate(world)
        await work(world)
        exported, computed = await world.export(), len(new.embedded)

        await requests(world).rebuild(LOCAL_WORKSPACE, world.principal, [DerivedStore.VECTORS])
        await world.apply()

        assert (await world.export(), len(new.embedded)) == (exported, computed)


async def test_a_part_made_before_the_switch_is_embedded_again_when_it_is_applied(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    async with opened(tmp_path, clock, embedder, HashEmbedder()) as world:
        await world.remember("Ada moved to Lisbon.", external_id="1")
        await world.work()
        await world.remember("Grace keeps a cat.", external_id="2")
        await world.extract()
        async with world.ports.catalog.transaction() as tx:
            await tx.workspaces.park(LOCAL_WORKSPACE, tx.now_ms + 3_600_000, "a test")
            await tx.commit()
        await migrate(world)
        while await world.path.embed_again.round(LOCAL_WORKSPACE):
            await world.apply()
        await world.apply()
        assert world.ports.embedder.model == "hash/1"

        await world.work()

        assert await dimensions(world) == [DIMENSION, DIMENSION]


async def test_what_is_forgotten_meanwhile_is_nowhere_after_it(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    async with opened(tmp_path, clock, embedder, HashEmbedder()) as world:
        await world.remember("Ada moved to Lisbon.", external_id="1")
        await world.remember("Grace keeps a cat.", external_id="2")
        await world.work()
        await migrate(world)
        await world.path.embed_again.round(LOCAL_WORKSPACE)
        ada = next(each.id for each in await world.documents() if each.external_id == "1")
        await world.forget(ada)
        await work(world)

        assert await dimensions(world) == [DIMENSION]
        assert await world.blobs_of(ada) == []


async def test_a_memory_that_is_forgotten_meanwhile_is_nowhere_after_it(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    async with opened(tmp_path, clock, embedder, HashEmbedder()) as world:
        await world.remember("Ada moved to Lisbon.", external_id="1")
        await world.remember("Grace keeps a cat.", external_id="2")
        await world.work()
        job = await migrate(world)
        await world.path.embed_again.round(LOCAL_WORKSPACE)
        ada = next(each.id for each in await world.documents() if each.external_id == "1")
        await world.forget_memory(ada)
        await work(world)
        assert (await world.job(job.id)).stage is Stage.COMPLETE
        assert await dimensions(world) == [DIMENSION]
        assert len(await world.blobs_of(ada)) == 1  # the text
        assert (await world.audit()).findings == ()


class _Overtaken(HashEmbedder):
    """While it embeds, the memory is forgotten and erased."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[EmbeddedText]:
        await self._world.forget_dataset_memory()
        await self._world.work()
        return await super().embed_passages(texts)


async def test_a_part_whose_memory_is_forgotten_while_it_is_embedded_is_not_kept(world: World) -> None:
    await world.remember("Ada moved to Lisbon.", external_id="1")
    await world.work()
    async with world.ports.catalog.reading() as tx:
        (late,) = await tx.history.applied_after(LOCAL_WORKSPACE, 0, 10)
    assert late.blob is not None
    overtaken = EmbedderChoice([_Overtaken(world)])

    await ModelParts(world.ports.catalog, world.ports.blobs, overtaken).embed(late, "hash/1")

    async with world.ports.catalog.reading() as tx:
        assert await tx.history.vectors_of(late.blob, "hash/1") is None


async def test_one_that_was_killed_goes_on_where_it_was(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    async with opened(tmp_path, clock, embedder, HashEmbedder()) as world:
        await world.remember("Ada moved to Lisbon.", external_id="1")
        await world.work()
        await migrate(world)
        await world.path.embed_again.round(LOCAL_WORKSPACE)
    after_leases_ran_out(clock)
    again = HashEmbedder()
    async with opened(tmp_path, clock, embedder, again) as world:
        await world.apply()

        assert again.embedded == []
        assert await dimensions(world) == [DIMENSION]


async def test_one_that_is_dropped_leaves_the_former_model_as_it_was(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    async with opened(tmp_path, clock, embedder, HashEmbedder()) as world:
        await world.remember("Ada moved to Lisbon.", external_id="1")
        await world.work()
        exported = await world.export()
        job = await migrate(world)
        await world.apply()

        await requests(world).drop_migration(LOCAL_WORKSPACE)
        await work(world)

        assert (await world.job(job.id)).stage is Stage.CANCELLED
        assert await world.export() == exported
        assert world.ports.embedder.model == embedder.model
        assert world.ports.collections.building is None


async def begin(world: World, collections: VectorCollections) -> None:
    """As the holder of the lease does who has read that there is a move, and learns nothing of its end."""
    ports = world.ports
    parts = ModelParts(ports.catalog, ports.blobs, ports.embedders)
    calls = FencedCalls(ports.catalog, compose.PATIENCE)
    follower = VectorFollower(ports.catalog, parts, collections, ports.embedders, calls)
    lease = ApplyLease(LOCAL_WORKSPACE, "somebody", epoch=1, expires_ms=0, was_released=False)
    await follower.begin(lease)


async def test_one_that_is_dropped_before_it_began_leaves_what_answers_alone(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    async with opened(tmp_path, clock, embedder, HashEmbedder()) as world:
        await world.remember("Ada moved to Lisbon.", external_id="1")
        await world.work()
        exported = await world.export()
        await migrate(world)
        await requests(world).drop_migration(LOCAL_WORKSPACE)

        await begin(world, world.ports.collections)

        assert world.ports.collections.building is None
        assert await world.export() == exported


async def test_contents_that_are_lost_are_passed_by_and_told(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    """Though the follower does not come by: the page of them is not looked at for ever."""
    new = HashEmbedder()
    async with opened(tmp_path, clock, embedder, new) as world:
        lost = [await world.remember(f"Ada is in room {each}.", external_id=str(each)) for each in range(2)]
        await world.work()
        await world.remember("Grace keeps a cat.", external_id="cat")
        await world.work()
        for receipt in lost:
            await world.ports.blobs.erase_job(LOCAL_WORKSPACE, receipt.job.id)
        job = await migrate(world)
        ports = world.ports
        parts = ModelParts(ports.catalog, ports.blobs, ports.embedders)
        embed_again = EmbedAgain(ports.catalog, ports.bus, parts, ports.directory, page=2)

        with capture_logs() as logs:
            rounds = [await embed_again.round(LOCAL_WORKSPACE) for _ in range(5)]

        assert rounds == [True, True, False, True, False]  # the lost ones are looked for once more
        assert len(new.embedded) == 1
        told = [each["document"] for each in logs if each["event"] == "embedding_again_lacks_contents"]
        assert sorted(told) == sorted(str(receipt.job.document) for receipt in lost)
        await work(world)
        failure = (await world.job(job.id)).failure
        assert failure is not None
        assert (failure.code, "2 changes" in failure.message) == ("contents_lost", True)
        assert await dimensions(world) == [DIMENSION]


async def test_contents_that_were_lost_and_are_back_are_embedded(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    async with opened(tmp_path, clock, embedder, HashEmbedder()) as world:
        await world.remember("Ada moved to Lisbon.", external_id="1")
        await world.work()
        blobs, away = tmp_path / "blobs", tmp_path / "away"
        job = await migrate(world)
        blobs.rename(away)
        await world.path.embed_again.round(LOCAL_WORKSPACE)
        away.rename(blobs)

        await work(world)
        await work(world)

        assert (await world.job(job.id)).stage is Stage.COMPLETE
        assert await dimensions(world) == [DIMENSION]


class _DroppedMeanwhile(EdgeCollections):
    """While the other collection is made, the move to it is given up."""

    def __init__(self, folder: Path, world: World) -> None:
        super().__init__(folder)
        self._world = world

    async def build(self, collection: Collection, *, must_exist: bool = False) -> None:
        await super().build(collection, must_exist=must_exist)
        await requests(self._world).drop_migration(LOCAL_WORKSPACE)


async def test_one_that_is_dropped_while_it_begins_leaves_no_collection(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    async with opened(tmp_path, clock, embedder, HashEmbedder()) as world:
        await world.remember("Ada moved to Lisbon.", external_id="1")
        await world.work()
        await migrate(world)
        collections = _DroppedMeanwhile(tmp_path / "beside", world)

        await begin(world, collections)

        assert collections.building is None
        assert list((tmp_path / "beside").iterdir()) == []


async def test_there_is_nothing_to_move_to_but_another_model(world: World) -> None:
    await world.remember("Ada moved to Lisbon.")
    await world.work()

    with pytest.raises(ConflictError):
        await migrate(world)
