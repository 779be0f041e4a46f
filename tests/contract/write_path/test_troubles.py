"""What is told of an engine that is not as it should be: a warning while all is served, else a problem."""

from dataclasses import replace
from pathlib import Path

from dormouse.adapters.embedder.choice import AbsentEmbedder, EmbedderChoice
from dormouse.adapters.embedder.onnx import OnnxEmbedder
from dormouse.adapters.vector_store.edge_collections import EdgeCollections
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE
from dormouse.model.health import Health
from dormouse.model.rebuild import DerivedStore
from dormouse.rebuild.request import RebuildRequests
from dormouse.troubles import troubles
from tests.contract.write_path.second_model import HashEmbedder
from tests.contract.write_path.world import World, opened
from tests.hand_clock import HandClock


async def told(world: World) -> tuple[list[str], list[str]]:
    """The codes of problems and of warnings."""
    health = await troubles(world.ports, await world.scope())
    return [each.code for each in health.problems], [each.code for each in health.warnings]


def requests(world: World) -> RebuildRequests:
    ports = world.ports
    return RebuildRequests(ports.catalog, ports.bus, ports.collections, ports.embedders)


async def filled(world: World) -> None:
    await world.remember("Ada moved to Lisbon.")
    await world.work()


async def test_nothing_is_told_of_a_sound_one(world: World) -> None:
    await filled(world)

    assert await troubles(world.ports, await world.scope()) == Health(())


async def test_another_configured_model_is_a_warning_while_the_former_one_answers(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    async with opened(tmp_path, clock, embedder, HashEmbedder()) as world:
        await filled(world)

        health = await troubles(world.ports, await world.scope())

        assert health.problems == ()
        (warning,) = health.warnings
        assert "dormouse migrate-embedding" in str(warning)


async def test_a_former_model_that_cannot_be_had_is_a_problem(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    async with opened(tmp_path, clock, embedder, HashEmbedder()) as world:
        await filled(world)
        absent = AbsentEmbedder("elsewhere", embedder.dimension)
        world.ports = replace(world.ports, embedders=EmbedderChoice([HashEmbedder(), absent], "elsewhere"))

        assert await told(world) == (["misconfigured"], [])


async def test_a_collection_that_is_filled_beside_the_one_that_answers_is_a_warning(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    async with opened(tmp_path, clock, embedder, HashEmbedder()) as world:
        await filled(world)
        await requests(world).migrate(LOCAL_WORKSPACE, world.principal)

        assert await told(world) == ([], ["unavailable"])


async def test_a_graph_that_is_made_anew_is_a_problem(world: World) -> None:
    await filled(world)
    await requests(world).rebuild(LOCAL_WORKSPACE, world.principal, list(DerivedStore))

    assert await told(world) == (["unavailable"], [])


async def test_vectors_that_are_lost_until_they_are_made_anew_are_a_problem(world: World) -> None:
    await filled(world)
    await requests(world).rebuild(LOCAL_WORKSPACE, world.principal, [DerivedStore.VECTORS])
    async with world.ports.catalog.reading() as tx:
        collection = (await tx.workspaces.get(LOCAL_WORKSPACE)).collection
    assert isinstance(world.ports.collections, EdgeCollections)
    assert collection
    world.ports.collections.stand_in(collection)

    assert await told(world) == (["store_unavailable"], [])
