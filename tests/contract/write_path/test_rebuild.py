"""Graph and vectors lost and made anew: what comes back is what was there, with nothing computed again and no
language model asked."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from dormouse.adapters.embedder.onnx import OnnxEmbedder
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE
from dormouse.errors import StoreUnavailableError
from dormouse.ids import PassageId
from dormouse.jobs.lease import LEASE_MS
from dormouse.jobs.progress import fail
from dormouse.model.job import Job, JobFailure, Stage
from dormouse.model.rebuild import DerivedStore
from dormouse.rebuild.request import RebuildRequests
from tests.contract.write_path.scripted_deriver import ScriptedDeriver
from tests.contract.write_path.world import World, after_leases_ran_out, opened
from tests.hand_clock import HandClock

BOTH = (DerivedStore.GRAPH, DerivedStore.VECTORS)


async def _live_a_little(world: World) -> None:
    """Several documents, an update, a failed revision, one forgotten, one suppressed, one restored."""
    await world.remember("Ada moved to Lisbon in March 2020.\n\nShe took the ferry.", external_id="1")
    await world.remember("Grace keeps a cat.", external_id="2")
    await world.remember("Lin lives in Hanoi and likes Ada.", external_id="3")
    await world.work()
    await world.remember("Ada moved to Paris in May 2021.\n\nShe took the ferry.", external_id="1")
    await world.work()
    receipt = await world.remember("Grace keeps a dog.\n\nGrace keeps a cat.", external_id="2")
    await world.extract()
    await _fail(world, receipt.job)
    await world.work()
    await world.remember("Noor paints the harbour.", external_id="5")
    await world.remember("Omar reads the tides.", external_id="6")
    await world.work()
    named = {document.external_id: document.id for document in await world.documents()}
    await world.forget(named["3"])
    await world.suppress(named["5"])
    await world.suppress(named["6"])
    await world.work()
    await world.remember("Noor paints the harbour at night.", external_id="5")
    await world.restore(named["6"])
    await world.work()


async def _live_a_little_with_a_model(world: World) -> None:
    """Derived memories that stand, were replaced by an update, came while hidden, and were forgotten."""
    await world.remember("Ada moved to Lisbon in March 2020.\n\nShe took the ferry.", external_id="1")
    await world.remember("Grace keeps a cat.", external_id="2")
    await world.remember("Lin lives in Hanoi and likes Ada.", external_id="3")
    await world.remember("Noor paints the harbour.", external_id="5")
    await world.work()
    await world.remember("Ada moved to Paris in May 2021.\n\nShe took the ferry.", external_id="1")
    named = {document.external_id: document.id for document in await world.documents()}
    await world.forget(named["3"])
    await world.suppress(named["5"])
    await world.work()
    await world.remember("Noor paints the harbour at night.", external_id="5")
    await world.work()


async def _fail(world: World, job: Job) -> None:
    async with world.ports.catalog.transaction() as tx:
        await tx.changes.lock(LOCAL_WORKSPACE)
        failure = JobFailure("internal", "it failed", retryable=True, stage=Stage.APPLYING)
        await fail(tx, await tx.jobs.get(job.id), failure)
        await tx.commit()


async def ask(world: World, stores: Sequence[DerivedStore] = BOTH) -> Job:
    requests = RebuildRequests(
        world.ports.catalog, world.ports.bus, world.ports.collections, world.ports.embedders
    )
    return await requests.rebuild(LOCAL_WORKSPACE, world.principal, stores)


async def held(world: World) -> dict[str, object]:
    """Every row of graph, vectors and statistics, as they lie there."""
    rows: dict[str, object] = dict(world.graph.lying())
    rows["points"] = await world.ports.vectors.count(await world.scope())
    return {**rows, "exported": await world.export()}


async def test_what_is_rebuilt_is_what_was_there(world: World) -> None:
    await _live_a_little(world)
    before, embedded = await held(world), len(world.embedder.embedded)

    job = await ask(world)
    await world.work()

    assert await held(world) == before
    assert len(world.embedder.embedded) == embedded
    found = await world.job(job.id)
    assert (found.stage, found.counts.done > 0) == (Stage.COMPLETE, True)


async def test_what_a_model_derived_is_rebuilt_without_asking_it(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    deriver = ScriptedDeriver()
    async with opened(tmp_path, clock, embedder, deriver=deriver) as world:
        await _live_a_little_with_a_model(world)
        before, embedded, asked = await held(world), len(world.embedder.embedded), len(deriver.asked)
        derived = (await world.ports.graph.count(await world.scope())).derived

        await ask(world)
        await world.work()

        assert await held(world) == before
        assert (len(world.embedder.embedded), len(deriver.asked)) == (embedded, asked)
        assert derived == 3
        assert (await world.audit()).is_sound


async def test_a_lost_graph_comes_back_and_is_refused_to_readers_until_then(world: World) -> None:
    await _live_a_little(world)
    before = await held(world)
    await ask(world, [DerivedStore.GRAPH])
    await _steps(world, 1)

    with pytest.raises(StoreUnavailableError) as caught:
        await world.ports.graph.passages(await world.scope(), [PassageId("any")])
    await world.apply()

    assert str(caught.value) == "the graph store is being rebuilt"
    assert await held(world) == before


async def test_what_is_remembered_and_forgotten_meanwhile_is_in_it_too(world: World) -> None:
    await _live_a_little(world)
    await ask(world, [DerivedStore.VECTORS])
    await _steps(world, 2)
    await world.remember("Tove came by ferry.", external_id="4")
    document = next(each for each in await world.documents() if each.external_id == "1")
    await world.forget(document.id)
    await world.work()
    rebuilt = await held(world)

    await ask(world)
    await world.work()

    assert await held(world) == rebuilt
    texts = {passage.text for passage in await world.passages()}
    assert {"Grace keeps a cat.", "Tove came by ferry."} < texts
    assert not any("Ada" in text for text in texts)


async def test_a_rebuild_that_was_killed_goes_on(
    tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder
) -> None:
    async with opened(tmp_path, clock, embedder) as world:
        await _live_a_little(world)
        before = await held(world)
        job = await ask(world)
        await _steps(world, 3, is_killed=True)
    after_leases_ran_out(clock)
    async with opened(tmp_path, clock, embedder) as world:
        await world.work()

        assert await held(world) == before
        assert (await world.job(job.id)).stage is Stage.COMPLETE


async def test_contents_that_are_lost_are_told_and_the_rest_comes_back(world: World) -> None:
    await world.remember("Grace keeps a cat.", external_id="2")
    lost = await world.remember("Ada moved to Lisbon.", external_id="1")
    await world.work()
    await world.ports.blobs.erase_job(LOCAL_WORKSPACE, lost.job.id)

    job = await ask(world)
    await world.work()

    found = await world.job(job.id)
    assert found.failure is not None
    assert found.failure.code == "contents_lost"
    assert [passage.text for passage in await world.passages()] == ["Grace keeps a cat."]


async def test_asking_again_is_answered_with_the_job_that_does_it(world: World) -> None:
    await _live_a_little(world)
    first = await ask(world)

    assert (await ask(world)).id == first.id


async def _steps(world: World, count: int, *, is_killed: bool = False) -> None:
    async with world.ports.catalog.transaction() as tx:
        lease = await tx.workspaces.acquire_lease(LOCAL_WORKSPACE, "a step", LEASE_MS)
        await tx.commit()
    assert lease is not None
    for _ in range(count):
        await world.path.backfill.step(lease)
    if not is_killed:
        async with world.ports.catalog.transaction() as tx:
            await tx.workspaces.release_lease(lease)
            await tx.commit()
