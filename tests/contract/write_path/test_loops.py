"""The loops by themselves: bells bring work, and ending lets it finish. Source: writes §1 and §3."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

from dormouse.adapters.embedder.choice import EmbedderChoice
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE
from dormouse.ids import JobId
from dormouse.model.job import Stage
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.embedder import EmbeddedQuery, EmbeddedText, Embedder
from tests.builders import a_session_entry
from tests.contract.write_path.world import World

DEADLINE_S = 60.0


class StallingEmbedder:
    """Embeds a note at once, and whatever has more than a few passages not until it is let go on."""

    def __init__(self, real: Embedder) -> None:
        self._real = real
        self.model, self.dimension = real.model, real.dimension
        self.stalled = 0
        self.go_on = asyncio.Event()

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[EmbeddedText]:
        if len(texts) > 5:
            self.stalled += 1
            await self.go_on.wait()
        return await self._real.embed_passages(texts)

    async def embed_query(self, text: str) -> EmbeddedQuery:
        return await self._real.embed_query(text)

    async def close(self) -> None:
        """The suite closes the real one."""


@asynccontextmanager
async def _running(world: World) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        loops = [
            group.create_task(world.path.extractor.run()),
            group.create_task(world.path.applier.run()),
            group.create_task(world.path.sweeper.run()),
        ]
        try:
            async with asyncio.timeout(DEADLINE_S):
                yield
        finally:
            for loop in loops:
                loop.cancel()


async def _final(world: World, job: JobId) -> Stage:
    while not (found := await world.job(job)).stage.is_final:  # noqa: ASYNC110  only the catalog can tell
        await asyncio.sleep(0.01)
    return found.stage


async def test_a_bell_brings_a_note_all_the_way(world: World) -> None:
    async with _running(world):
        receipt = await world.remember("Ada moved to London.")

        assert await _final(world, receipt.job.id) is Stage.COMPLETE


async def test_work_from_before_the_start_needs_no_bell(world: World) -> None:
    """The sweeper rings for what waits: rows are the outbox."""
    receipt = await world.remember("Ada moved to London.")
    world.path = world.fresh_path(world.ports)

    async with _running(world):
        assert await _final(world, receipt.job.id) is Stage.COMPLETE


async def test_a_forget_runs_beside_many_notes(world: World) -> None:
    async with _running(world):
        receipts = [await world.remember(f"Note {number} about the harbour.") for number in range(8)]
        assert receipts[0].document is not None
        (forget,) = (await world.forget(receipts[0].document.id)).jobs

        assert await _final(world, forget.id) is Stage.COMPLETE
        assert {await _final(world, each.job.id) for each in receipts[1:]} == {Stage.COMPLETE}

    assert len(await world.passages()) == 7


async def test_ending_the_loops_releases_the_lease(world: World) -> None:
    async with _running(world):
        receipt = await world.remember("Ada moved to London.")
        await _final(world, receipt.job.id)

    async with world.ports.catalog.transaction() as tx:
        lease = await tx.workspaces.acquire_lease(LOCAL_WORKSPACE, "a successor", 1000)
    assert lease is not None
    assert lease.was_released


async def test_loops_that_ended_can_run_again(world: World) -> None:
    async with _running(world):
        first = await world.remember("Ada moved to London.")
        await _final(world, first.job.id)

    async with _running(world):
        second = await world.remember("Grace keeps a cat.")

        assert await _final(world, second.job.id) is Stage.COMPLETE


async def test_a_large_job_gives_way_to_a_short_note_after_a_part(world: World) -> None:
    """Large ones in every slot held them until their last part: a note waited for minutes."""
    large = await world.remember("\n\n".join(f"Crate {k} lies in dock {k}. " * 20 for k in range(420)))
    note = await world.remember("The harbour master is called Otto.")

    await world.path.extractor.extract(large.job.id)

    async with world.ports.catalog.reading() as tx:
        assert len(await tx.work.parts(large.job.id)) == 1
        assert [job for _, job in await tx.work.due(2)] == [note.job.id, large.job.id]
    assert (await world.job(large.job.id)).counts.parts > 1


async def test_a_note_is_found_while_large_jobs_are_in_the_middle_of_a_part(world: World) -> None:
    embedder = StallingEmbedder(world.embedder)
    world.path = world.fresh_path(replace(world.ports, embedders=EmbedderChoice([embedder])))
    texts = ["\n\n".join(f"Crate {k} lies in dock {k}. " * 20 for k in range(n)) for n in (40, 50, 60)]
    async with _running(world):
        large = [await world.remember(text) for text in texts]
        while embedder.stalled < 2:  # noqa: ASYNC110  every slot that takes large jobs
            await asyncio.sleep(0.01)

        note = await world.remember("The harbour master is called Otto.")

        assert await _final(world, note.job.id) is Stage.COMPLETE
        assert embedder.stalled == 2
        embedder.go_on.set()
        assert {await _final(world, each.job.id) for each in large} == {Stage.COMPLETE}


class DutyOfAnother:
    """The real catalog, with every duty taken elsewhere."""

    def __init__(self, real: Catalog) -> None:
        self._real = real
        self.asked = asyncio.Event()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the port has
        return getattr(self._real, name)

    @asynccontextmanager
    async def duty(self, name: str) -> AsyncIterator[bool]:
        yield False
        self.asked.set()


async def test_a_process_that_does_not_sweep_expires_nothing(world: World) -> None:
    """Another does it; here a session entry that ran out stands for all that sweeping does."""
    async with world.ports.catalog.transaction() as tx:
        await tx.sessions.add(replace(a_session_entry(), expires_ms=world.clock.now_ms()))
        await tx.commit()
    elsewhere = DutyOfAnother(world.ports.catalog)
    world.path = world.fresh_path(replace(world.ports, catalog=cast("Catalog", elsewhere)))

    async with _running(world):
        await elsewhere.asked.wait()

    async with world.ports.catalog.transaction() as tx:
        assert await tx.sessions.expire() == 1
