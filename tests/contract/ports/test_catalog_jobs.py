from dataclasses import replace

import pytest

from dormouse.errors import ConflictError, NotFoundError
from dormouse.ids import JobId, new_job_id
from dormouse.model.job import Job, JobKind, JobStep, Stage
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import (
    A_DOCUMENT,
    A_JOB,
    A_PRINCIPAL,
    A_WORKSPACE,
    ANOTHER_DATASET,
    ANOTHER_PRINCIPAL,
    NOW_MS,
    a_job,
)
from tests.contract.ports.catalog_samples import a_stored_dataset, store_job
from tests.hand_clock import HandClock


@pytest.mark.parametrize("stage", Stage)
async def test_a_job_comes_back_as_it_was_added(catalog: Catalog, stage: Stage) -> None:
    job = replace(a_job(stage, done=2, total=5), retry_of=JobId("x"), parked_reason="r", next_attempt_ms=7)
    async with catalog.transaction() as tx:
        await tx.jobs.add(job)
        assert await tx.jobs.get(job.id) == job


async def test_an_unknown_job_is_not_found(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        with pytest.raises(NotFoundError):
            await tx.jobs.get(A_JOB)
        with pytest.raises(NotFoundError):
            await tx.jobs.save(a_job())


async def test_each_change_of_stage_is_a_step_with_its_time(catalog: Catalog, clock: HandClock) -> None:
    job = a_job()
    async with catalog.transaction() as tx:
        await tx.jobs.add(job)
        await tx.commit()
    for stage in (Stage.EXTRACTING, Stage.EXTRACTING, Stage.APPLYING):
        clock.advance(10)
        async with catalog.transaction() as tx:
            await tx.jobs.save(replace(job, stage=stage))
            await tx.commit()

    async with catalog.reading() as tx:
        assert await tx.jobs.steps(job.id) == [
            JobStep(job.id, Stage.ACCEPTED, NOW_MS),
            JobStep(job.id, Stage.EXTRACTING, NOW_MS + 10),
            JobStep(job.id, Stage.APPLYING, NOW_MS + 30),
        ]


@pytest.mark.parametrize("stage", [stage for stage in Stage if stage.is_final])
async def test_a_final_job_never_changes(catalog: Catalog, stage: Stage) -> None:
    job = await store_job(catalog, a_job(stage))
    async with catalog.transaction() as tx:
        with pytest.raises(ConflictError):
            await tx.jobs.save(replace(job, stage=Stage.EXTRACTING))
        with pytest.raises(ConflictError):
            await tx.jobs.save(job)
        assert await tx.jobs.get(job.id) == job


async def test_listings_show_own_jobs_or_all_of_the_datasets_that_are_named(catalog: Catalog) -> None:
    own = await store_job(catalog)
    shared = a_job(id=new_job_id(), principal=ANOTHER_PRINCIPAL, dataset=ANOTHER_DATASET)
    await store_job(catalog, shared)

    async with catalog.reading() as tx:
        assert await tx.jobs.listing(A_WORKSPACE, A_PRINCIPAL) == [own]
        assert await tx.jobs.listing(A_WORKSPACE, A_PRINCIPAL, datasets=[ANOTHER_DATASET]) == [shared]
        of_stage = await tx.jobs.listing(A_WORKSPACE, A_PRINCIPAL, stages=[Stage.COMPLETE, Stage.FAILED])
        assert of_stage == []


async def test_listings_page_through_all_jobs_once_newest_first(catalog: Catalog) -> None:
    """Many in one millisecond: the id decides, and no job is skipped or shown twice."""
    async with catalog.transaction() as tx:
        stored = [a_job(id=new_job_id(), accepted_ms=NOW_MS + number // 7) for number in range(25)]
        for job in stored:
            await tx.jobs.add(job)
        seen: list[Job] = []
        before = None
        while page := await tx.jobs.listing(A_WORKSPACE, A_PRINCIPAL, before=before, limit=10):
            seen += page
            before = (page[-1].accepted_ms, page[-1].id)

    assert seen == sorted(stored, key=lambda job: (job.accepted_ms, job.id), reverse=True)


async def test_a_dataset_shows_its_unfinished_jobs_or_else_its_latest(catalog: Catalog) -> None:
    busy = (await a_stored_dataset(catalog, "busy")).id
    quiet = (await a_stored_dataset(catalog, "quiet")).id
    running = a_job(Stage.APPLYING, id=new_job_id(), dataset=busy)
    failed = a_job(Stage.FAILED, id=new_job_id(), dataset=quiet, accepted_ms=NOW_MS + 1)
    async with catalog.transaction() as tx:
        await tx.jobs.add(a_job(Stage.FAILED, id=new_job_id(), dataset=busy, accepted_ms=NOW_MS + 9))
        await tx.jobs.add(running)
        await tx.jobs.add(a_job(Stage.COMPLETE, id=new_job_id(), dataset=quiet))
        await tx.jobs.add(failed)
        await tx.jobs.add(
            a_job(id=new_job_id(), dataset=quiet, kind=JobKind.FORGET_ITEM, accepted_ms=NOW_MS + 9)
        )

        assert await tx.jobs.unfinished_or_latest_of([busy, quiet]) == [running, failed]
        assert await tx.jobs.unfinished_or_latest_of([]) == []


async def test_what_was_cancelled_and_what_came_before_a_forget_of_the_whole_tell_nothing(
    catalog: Catalog,
) -> None:
    cancelled = (await a_stored_dataset(catalog, "cancelled")).id
    forgotten = (await a_stored_dataset(catalog, "forgotten")).id
    async with catalog.transaction() as tx:
        complete = a_job(Stage.COMPLETE, id=new_job_id(), dataset=cancelled)
        later = a_job(Stage.CANCELLED, id=new_job_id(), dataset=cancelled, accepted_ms=NOW_MS + 1)
        before = a_job(Stage.FAILED, id=new_job_id(), dataset=forgotten)
        forget = a_job(id=new_job_id(), dataset=forgotten, kind=JobKind.FORGET_DATASET, accepted_ms=NOW_MS + 1)
        for job in (complete, later, before, forget):
            await tx.jobs.add(job)

        assert await tx.jobs.unfinished_or_latest_of([cancelled, forgotten]) == [complete]


async def test_unfinished_jobs_of_a_document_include_forgets(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        remember = a_job(Stage.SEARCHABLE, id=new_job_id())
        forget = a_job(id=new_job_id(), kind=JobKind.FORGET_ITEM, accepted_ms=NOW_MS + 1)
        for job in (remember, forget, a_job(Stage.CANCELLED, id=new_job_id())):
            await tx.jobs.add(job)

        assert await tx.jobs.unfinished_of(A_DOCUMENT) == [remember, forget]


async def test_a_key_stands_for_its_job_for_a_day(catalog: Catalog, clock: HandClock) -> None:
    async with catalog.transaction() as tx:
        await tx.jobs.remember_key(A_PRINCIPAL, "remember", "key", "sha", A_JOB)
        await tx.commit()

    clock.advance(24 * 3600 * 1000 - 1)
    async with catalog.reading() as tx:
        assert await tx.jobs.idempotent(A_PRINCIPAL, "remember", "key") == (A_JOB, "sha")
        assert await tx.jobs.idempotent(ANOTHER_PRINCIPAL, "remember", "key") is None
        assert await tx.jobs.idempotent(A_PRINCIPAL, "forget", "key") is None
        assert await tx.jobs.idempotent(A_PRINCIPAL, "remember", "other") is None

    clock.advance(1)
    async with catalog.transaction() as tx:
        assert await tx.jobs.idempotent(A_PRINCIPAL, "remember", "key") is None
        await tx.jobs.remember_key(A_PRINCIPAL, "remember", "key", "new", JobId("later"))
        assert await tx.jobs.idempotent(A_PRINCIPAL, "remember", "key") == (JobId("later"), "new")


async def test_a_key_cannot_be_given_twice(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        await tx.jobs.remember_key(A_PRINCIPAL, "remember", "key", "sha", A_JOB)
        with pytest.raises(ConflictError):
            await tx.jobs.remember_key(A_PRINCIPAL, "remember", "key", "sha", A_JOB)
