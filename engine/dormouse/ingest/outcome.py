"""How an extraction ends when it does not simply go on: released, parked, failed or cancelled.

Trouble that passes is waited for, for up to seven days; anything else counts as an attempt, and the eighth is
final. Source: writes §2, §3 and §4.
"""

from collections.abc import Callable
from dataclasses import replace

import structlog

from dormouse import telemetry
from dormouse.clock import Clock
from dormouse.errors import DormouseError, UnavailableError
from dormouse.jobs.lease import LEASE_MS
from dormouse.jobs.progress import end_overtaken, fail, out_of_date
from dormouse.jobs.transition import (
    MAX_ATTEMPTS,
    attempt_pause_ms,
    failure_of,
    parked,
    passing_pause_ms,
    waited_too_long,
)
from dormouse.model.job import CancelReason, Job, Stage
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction

log = structlog.get_logger()


class Outcomes:
    """`holder` names this process in leases; `alarm` wakes the sweeper when something was parked."""

    def __init__(
        self,
        catalog: Catalog,
        blobs: BlobStore,
        clock: Clock,
        *,
        holder: str,
        alarm: Callable[[], None] = lambda: None,
    ) -> None:
        self.holder = holder
        self._catalog = catalog
        self._blobs = blobs
        self._clock = clock
        self._alarm = alarm

    async def renew(self, job: Job) -> None:
        """Raises `LeaseLostError`."""

        async def renewed(tx: CatalogTransaction) -> None:
            await tx.work.heartbeat(job.id, self.holder, LEASE_MS)
            await tx.commit()

        await self._catalog.write(renewed)

    async def release(self, job: Job) -> None:
        async def released(tx: CatalogTransaction) -> None:
            await tx.work.release(job.id, self.holder)
            await tx.commit()

        await self._catalog.write(released)

    async def end_outdated(self, job: Job) -> bool:
        """Whether the job is over; cancels what was overtaken. A forgotten one leaves no blobs behind."""
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(job.workspace)
            reason = await out_of_date(tx, job)
            current = await tx.jobs.get(job.id)
            if reason is not None and not current.stage.is_final:
                current = await end_overtaken(tx, current, reason)
                await tx.commit()
                is_complete = current.stage is Stage.COMPLETE
                telemetry.job_reached(
                    "complete" if is_complete else "cancelled", (tx.now_ms - job.accepted_ms) / 1000
                )
        if reason is CancelReason.FORGOTTEN:
            # The forget may have looked already: what was put since then is ours to remove.
            await self._blobs.erase_job(job.workspace, job.id)
        return current.stage.is_final

    async def fail(self, job: Job, error: Exception) -> None:
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(job.workspace)
            current = await tx.jobs.get(job.id)
            if not current.stage.is_final:
                await fail(tx, current, failure_of(error, current.stage))
                telemetry.job_reached("failed", (tx.now_ms - job.accepted_ms) / 1000)
            await tx.work.release(job.id, self.holder)
            await tx.commit()

    async def give_up(self, job: Job) -> None:
        """Its leases ran out too often: whoever works on it does not live to tell."""
        log.error("extract_given_up", job=job.id, attempts=job.attempts)
        await self.fail(
            job, DormouseError("every worker that took it up stopped half-way; trying again may help")
        )

    async def park(self, job: Job, error: UnavailableError) -> None:
        now_ms = self._clock.now_ms()
        if waited_too_long(job, now_ms):
            await self.fail(job, error)
            return
        pause_ms = passing_pause_ms(now_ms - job.accepted_ms, error.retry_after_s)
        await self._pause(job, error.code, pause_ms, attempts=job.attempts)

    async def count_attempt(self, job: Job, error: Exception) -> None:
        attempts = job.attempts + 1
        if attempts >= MAX_ATTEMPTS:
            log.error("extract_given_up", job=job.id, error=type(error).__name__)
            await self.fail(job, error)
            return
        log.warning("extract_attempt_failed", job=job.id, error=type(error).__name__, attempts=attempts)
        await self._pause(job, "internal", attempt_pause_ms(attempts), attempts=attempts)

    async def _pause(self, job: Job, reason: str, pause_ms: int, *, attempts: int) -> None:
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(job.workspace)
            current = await tx.jobs.get(job.id)
            if not current.stage.is_final:
                waiting = parked(current, reason, tx.now_ms, pause_ms=pause_ms)
                await tx.jobs.save(replace(waiting, attempts=attempts))
            await tx.work.release(job.id, self.holder)
            await tx.commit()
        self._alarm()
