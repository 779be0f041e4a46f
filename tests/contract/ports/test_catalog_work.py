import asyncio
from dataclasses import replace

import pytest

from dormouse.errors import LeaseLostError
from dormouse.ids import BlobKey, JobId, new_job_id
from dormouse.model.job import Job, JobKind, PartRow, Stage
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import A_WORKSPACE, NOW_MS, a_change, a_job
from tests.contract.ports.catalog_samples import a_stored_dataset, store_job
from tests.hand_clock import HandClock

LEASE_MS = 30_000


async def claim(catalog: Catalog, job: JobId, holder: str = "one") -> Job | None:
    async with catalog.transaction() as tx:
        claimed = await tx.work.claim(job, holder, LEASE_MS)
        await tx.commit()
    return claimed


async def due(catalog: Catalog) -> list[JobId]:
    async with catalog.reading() as tx:
        return [job for _, job in await tx.work.due(100)]


async def test_a_job_is_extracted_by_one(catalog: Catalog) -> None:
    job = await store_job(catalog)

    assert await claim(catalog, job.id, "one") == job
    assert await claim(catalog, job.id, "two") is None
    assert await claim(catalog, job.id, "one") is None
    assert await due(catalog) == []


async def test_of_many_that_claim_at_once_one_gets_it(catalog: Catalog) -> None:
    job = await store_job(catalog)
    async with asyncio.TaskGroup() as group:
        claims = [group.create_task(claim(catalog, job.id, str(number))) for number in range(8)]

    assert [task.result() for task in claims].count(None) == 7


async def test_a_lease_that_ran_out_counts_as_an_attempt(catalog: Catalog, clock: HandClock) -> None:
    job = await store_job(catalog)
    await claim(catalog, job.id, "one")
    clock.advance(LEASE_MS)

    assert await due(catalog) == [job.id]
    assert await claim(catalog, job.id, "two") == replace(job, attempts=1)


async def test_a_released_job_may_be_claimed_without_an_attempt(catalog: Catalog) -> None:
    job = await store_job(catalog)
    await claim(catalog, job.id, "one")
    async with catalog.transaction() as tx:
        await tx.work.release(job.id, "two")
        await tx.commit()
    assert await claim(catalog, job.id, "two") is None

    async with catalog.transaction() as tx:
        await tx.work.release(job.id, "one")
        await tx.commit()
    assert await claim(catalog, job.id, "two") == job


async def test_a_heartbeat_keeps_the_lease_until_a_successor_has_it(catalog: Catalog, clock: HandClock) -> None:
    job = await store_job(catalog)
    await claim(catalog, job.id, "one")
    clock.advance(LEASE_MS - 1)
    async with catalog.transaction() as tx:
        await tx.work.heartbeat(job.id, "one", LEASE_MS)
        await tx.commit()
    clock.advance(LEASE_MS - 1)
    assert await claim(catalog, job.id, "two") is None
    clock.advance(1)
    assert await claim(catalog, job.id, "two") is not None

    async with catalog.transaction() as tx:
        with pytest.raises(LeaseLostError):
            await tx.work.heartbeat(job.id, "one", LEASE_MS)


@pytest.mark.parametrize("stage", [stage for stage in Stage if stage.is_final or stage.is_searchable])
async def test_what_has_ended_or_is_searchable_is_not_extracted(catalog: Catalog, stage: Stage) -> None:
    job = await store_job(catalog, a_job(stage))

    assert await claim(catalog, job.id) is None
    assert await due(catalog) == []


async def test_a_forget_needs_no_extraction(catalog: Catalog) -> None:
    job = await store_job(catalog, a_job(kind=JobKind.FORGET_DATASET))

    assert await claim(catalog, job.id) is None
    assert await due(catalog) == []


async def test_a_parked_job_waits_for_its_time(catalog: Catalog, clock: HandClock) -> None:
    job = await store_job(
        catalog, replace(a_job(), parked_reason="the embedder is down", next_attempt_ms=NOW_MS + 5)
    )
    assert await due(catalog) == []
    assert await claim(catalog, job.id) is None
    async with catalog.reading() as tx:
        assert await tx.work.next_due_ms() == NOW_MS + 5

    clock.advance(5)
    assert await due(catalog) == [job.id]
    assert await claim(catalog, job.id) == job


async def test_parts_are_stored_once_and_read_in_order(catalog: Catalog) -> None:
    job = await store_job(catalog)
    second, first = PartRow(job.id, 1, BlobKey("b"), 7), PartRow(job.id, 0, BlobKey("a"), 200)
    async with catalog.transaction() as tx:
        assert await tx.work.plan(job.id) is None
        await tx.work.save_plan(job.id, BlobKey("plan"), 2, 207)
        for part in (second, first, replace(first, blob=BlobKey("again"))):
            await tx.work.add_part(part)

        assert await tx.work.plan(job.id) == "plan"
        assert await tx.work.parts(job.id) == [first, second]
        blobs = [BlobKey(name) for name in ("plan", "a", "b", "again")]
        assert await tx.blobs.named(blobs) == {"plan", "a", "b"}


async def test_a_job_is_due_until_all_parts_are_stored_and_changes_appended(catalog: Catalog) -> None:
    """A crash between the last part and its change must not strand the job."""
    await a_stored_dataset(catalog)
    job = await store_job(catalog)
    async with catalog.transaction() as tx:
        await tx.work.save_plan(job.id, BlobKey("plan"), 2, 300)
        await tx.work.add_part(PartRow(job.id, 0, BlobKey("a"), 200))
        await tx.changes.append(a_change(job=job.id, part=0))
        await tx.commit()
    assert await due(catalog) == [job.id]

    async with catalog.transaction() as tx:
        await tx.work.add_part(PartRow(job.id, 1, BlobKey("b"), 100))
        await tx.commit()
    assert await due(catalog) == []
    assert await claim(catalog, job.id) is None


async def test_a_job_whose_parts_made_no_change_yet_is_still_due(catalog: Catalog) -> None:
    job = await store_job(catalog)
    async with catalog.transaction() as tx:
        await tx.work.save_plan(job.id, BlobKey("plan"), 0, 0)
        await tx.commit()

    assert await due(catalog) == [job.id]


async def test_small_jobs_go_first_but_large_ones_do_not_wait_for_ever(catalog: Catalog) -> None:
    megabyte = 1 << 20
    large = await store_job(catalog, a_job(id=new_job_id()), size_bytes=10 * megabyte)
    medium = await store_job(catalog, a_job(id=new_job_id()), size_bytes=megabyte)
    small = await store_job(catalog, a_job(id=new_job_id(), accepted_ms=NOW_MS + 10_000), size_bytes=100)
    late = await store_job(catalog, a_job(id=new_job_id(), accepted_ms=NOW_MS + 200_000), size_bytes=100)

    assert await due(catalog) == [small.id, medium.id, large.id, late.id]
    async with catalog.reading() as tx:
        assert await tx.work.due(1) == [(A_WORKSPACE, small.id)]


async def test_the_next_due_time_is_the_earliest_to_come(catalog: Catalog, clock: HandClock) -> None:
    await a_stored_dataset(catalog)
    job = await store_job(catalog)
    async with catalog.reading() as tx:
        assert await tx.work.next_due_ms() is None

    await claim(catalog, job.id)
    async with catalog.transaction() as tx:
        await tx.changes.append(a_change(job=new_job_id()))
        assert await tx.work.next_due_ms() == NOW_MS + LEASE_MS
        await tx.workspaces.acquire_lease(A_WORKSPACE, "one", 10_000)
        assert await tx.work.next_due_ms() == NOW_MS + 10_000
        await tx.commit()

    clock.advance(10_000)
    async with catalog.reading() as tx:
        assert await tx.work.next_due_ms() == NOW_MS + LEASE_MS
