import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

from dormouse import ids
from dormouse.ids import JobId, WorkspaceId
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.message_bus import MessageBus
from tests.builders import A_WORKSPACE, NOW_MS, a_job
from tests.contract.ports.catalog_samples import a_stored_dataset, store_document, store_job

PATIENCE_S = 20.0  # of one bell: a first one takes seconds, and nobody looks without one before half a minute
SHORT_BYTES = 100

Bell = TypeVar("Bell")


async def heard(bells: AsyncIterator[Bell], count: int = 1) -> list[Bell]:
    async with asyncio.timeout(PATIENCE_S):
        return [await anext(bells) for _ in range(count)]


async def claimed(catalog: Catalog, job: JobId) -> None:
    async with catalog.transaction() as tx:
        assert await tx.work.claim(job, "a worker", 60_000) is not None
        await tx.commit()


async def some_workspaces(catalog: Catalog, *names: str) -> list[WorkspaceId]:
    async with catalog.transaction() as tx:
        made = [await tx.workspaces.ensure(WorkspaceId(name), name) for name in names]
        await tx.commit()
    return [each.id for each in made]


async def test_a_bell_brings_the_job_that_waits(bus: MessageBus, catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    bells = bus.ingest_bells()
    job = await store_job(catalog)

    await bus.ring_ingest(A_WORKSPACE, job.id)

    assert await heard(bells) == [(A_WORKSPACE, job.id)]


async def test_what_rang_before_anybody_listened_is_heard(bus: MessageBus, catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    job = await store_job(catalog)

    await bus.ring_ingest(A_WORKSPACE, job.id)
    await bus.ring_apply(A_WORKSPACE)

    assert await heard(bus.ingest_bells()) == [(A_WORKSPACE, job.id)]
    assert await heard(bus.apply_bells()) == [A_WORKSPACE]


async def test_a_job_that_somebody_holds_is_not_offered(bus: MessageBus, catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    taken, free = await store_job(catalog), await store_job(catalog)
    await claimed(catalog, taken.id)

    await bus.ring_ingest(A_WORKSPACE, taken.id)
    await bus.ring_ingest(A_WORKSPACE, free.id)

    assert await heard(bus.ingest_bells()) == [(A_WORKSPACE, free.id)]


async def test_small_jobs_come_first_whichever_rang(bus: MessageBus, catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    large = await store_job(catalog, size_bytes=10 << 20)
    small = await store_job(catalog, a_job(id=ids.new_job_id(), accepted_ms=NOW_MS + 10), size_bytes=10)

    await bus.ring_ingest(A_WORKSPACE, large.id)
    await bus.ring_ingest(A_WORKSPACE, small.id)

    assert await heard(bus.ingest_bells(), 2) == [(A_WORKSPACE, small.id), (A_WORKSPACE, large.id)]


async def test_whoever_listens_for_short_jobs_hears_of_no_other(bus: MessageBus, catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await store_document(tx, "long " * SHORT_BYTES)
        short = await store_document(tx, "short")
        await tx.commit()

    async with catalog.reading() as tx:
        for workspace, job in await tx.work.due(10):
            await bus.ring_ingest(workspace, job)
    (found,) = await heard(bus.ingest_bells(most_bytes=SHORT_BYTES))

    async with catalog.reading() as tx:
        assert (await tx.jobs.get(found[1])).document == short.id


async def test_every_listener_of_a_process_hears(bus: MessageBus, catalog: Catalog) -> None:
    """A job that both were offered is claimed by one of them."""
    await a_stored_dataset(catalog)
    job = await store_job(catalog)
    one, other = bus.ingest_bells(), bus.ingest_bells()

    await bus.ring_ingest(A_WORKSPACE, job.id)

    assert await heard(one) == await heard(other) == [(A_WORKSPACE, job.id)]


async def test_a_job_that_was_offered_and_not_taken_comes_again_with_the_next_bell(
    bus: MessageBus, catalog: Catalog
) -> None:
    await a_stored_dataset(catalog)
    job = await store_job(catalog)
    bells = bus.ingest_bells()
    await bus.ring_ingest(A_WORKSPACE, job.id)
    first = await heard(bells)

    async with asyncio.TaskGroup() as group:
        second = group.create_task(heard(bells))
        await bus.ring_ingest(A_WORKSPACE, job.id)

    assert first == second.result() == [(A_WORKSPACE, job.id)]


async def test_workspaces_that_ring_are_heard_however_often_they_ring(
    bus: MessageBus, catalog: Catalog
) -> None:
    names = await some_workspaces(catalog, "first", "second", "third")

    for _ in range(3):
        for name in names:
            await bus.ring_apply(name)
    found: set[WorkspaceId] = set()
    bells = bus.apply_bells()
    while found != set(names):
        found |= set(await heard(bells))

    assert found == set(names)


async def test_a_workspace_that_rings_while_it_is_applied_is_heard_again(
    bus: MessageBus, catalog: Catalog
) -> None:
    await some_workspaces(catalog, "one")
    bells = bus.apply_bells()
    await bus.ring_apply(WorkspaceId("one"))
    first = await heard(bells)

    await bus.ring_apply(WorkspaceId("one"))

    assert first == await heard(bells) == [WorkspaceId("one")]


async def test_whoever_listens_is_let_go_at_the_end(bus: MessageBus, catalog: Catalog) -> None:
    jobs, workspaces = bus.ingest_bells(), bus.apply_bells()

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        waiting = [group.create_task(_all(jobs)), group.create_task(_all(workspaces))]
        await asyncio.sleep(0)
        await bus.close()

    assert [task.result() for task in waiting] == [[], []]


async def _all(bells: AsyncIterator[Bell]) -> list[Bell]:
    return [bell async for bell in bells]
