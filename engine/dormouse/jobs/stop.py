"""Stopping a job that is not searchable yet, by whoever handed its content over. Source: writes §4."""

from dormouse.errors import ConflictError, UnavailableError
from dormouse.ids import JobId
from dormouse.jobs.follow import own_job
from dormouse.jobs.progress import cancel
from dormouse.model.job import CancelReason, Job, JobKind
from dormouse.model.scope import Scope
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.message_bus import MessageBus


async def stop(catalog: Catalog, bus: MessageBus, scope: Scope, job: JobId) -> Job:
    """The job, cancelled; stopping it again changes nothing. What it brought into the stores is erased.

    Raises `NotFoundError`, `ForbiddenError` (somebody else's) and `ConflictError` (searchable, ended, no
    remember).
    """
    async with catalog.transaction() as tx:
        await tx.changes.lock(scope.workspace)
        found = await own_job(tx, scope, job)
        if found.cancel_reason is CancelReason.BY_OWNER:
            return found
        if found.kind is not JobKind.REMEMBER or found.stage.is_final or found.stage.is_searchable:
            raise ConflictError("only what is not searchable yet can be cancelled; forget the item instead")
        ended = await cancel(tx, found, CancelReason.BY_OWNER)
        await tx.commit()
    try:
        await bus.ring_apply(scope.workspace)
    except UnavailableError:
        return ended  # the change row is the outbox: the sweeper rings again
    return ended
