"""Reading jobs, and waiting for one, without ever touching it.

A caller sees the jobs it accepted and those of datasets it may read. Waiting polls the catalog, so that it
works for a job that any process accepted and any other one finishes.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from dormouse.errors import ForbiddenError, NotFoundError
from dormouse.ids import DatasetId, JobId
from dormouse.model.job import Job, JobStep, Stage
from dormouse.model.scope import Scope
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction

Progress = Callable[[Job], Awaitable[None]]
Goal = Literal["searchable", "final"]

FIRST_PAUSE_S, LONGEST_PAUSE_S, GROWTH = 0.01, 0.25, 1.5


def is_reached(job: Job, goal: Goal) -> bool:
    return job.stage.is_final or (goal == "searchable" and job.stage.is_searchable)


def may_see(job: Job, scope: Scope) -> bool:
    return job.principal == scope.principal or (job.dataset is not None and job.dataset in scope.readable)


async def read_job(catalog: Catalog, scope: Scope, job: JobId) -> Job:
    """Raises `NotFoundError` for an unknown job and for one of somebody else alike."""
    found = await catalog.read(lambda tx: tx.jobs.get(job))
    if found.workspace != scope.workspace or not may_see(found, scope):
        raise NotFoundError("no such job")
    return found


async def own_job(tx: CatalogTransaction, scope: Scope, job: JobId) -> Job:
    """For who wants to change it.

    Raises `NotFoundError` as `read_job` does, and `ForbiddenError` for one that the caller may only read.
    """
    found = await tx.jobs.get(job)
    if found.workspace != scope.workspace or not may_see(found, scope):
        raise NotFoundError("no such job")
    if found.principal != scope.principal:
        raise ForbiddenError("only who handed the content over may retry or cancel its job")
    return found


async def read_steps(catalog: Catalog, scope: Scope, job: JobId) -> Sequence[JobStep]:
    await read_job(catalog, scope, job)
    async with catalog.reading() as tx:
        return await tx.jobs.steps(job)


async def list_jobs(
    catalog: Catalog,
    scope: Scope,
    *,
    datasets: Sequence[DatasetId] = (),
    stages: Sequence[Stage] = (),
    before: tuple[int, JobId] | None = None,
    limit: int = 50,
) -> Sequence[Job]:
    """Newest first: one's own or, where datasets are named, all of those of them that the caller may read."""
    narrowed = scope.readable & frozenset(datasets) if datasets else frozenset[DatasetId]()
    if datasets and not narrowed:
        return []
    async with catalog.reading() as tx:
        return await tx.jobs.listing(
            scope.workspace, scope.principal, datasets=narrowed, stages=stages, before=before, limit=limit
        )


async def wait(
    catalog: Catalog, scope: Scope, job: JobId, goal: Goal, budget_s: float, progress: Progress | None = None
) -> Job:
    """The job once it got there, or as it stands when the budget ends."""
    found = await read_job(catalog, scope, job)
    try:
        async with asyncio.timeout(budget_s):
            pause_s = FIRST_PAUSE_S
            while not is_reached(found, goal):
                await asyncio.sleep(pause_s)
                seen, found = found, await read_job(catalog, scope, job)
                pause_s = min(LONGEST_PAUSE_S, pause_s * GROWTH)
                if progress and (seen.stage, seen.counts) != (found.stage, found.counts):
                    await progress(found)
    except TimeoutError:
        pass  # an outcome, not an error: the job goes on
    return found
