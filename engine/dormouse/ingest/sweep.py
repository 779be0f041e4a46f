"""The sweeper: rings for whatever waits and nobody holds, and takes out what nobody names.

It runs at start, when something parked comes due, and at least every half minute, in one process at a time: a
lost bell costs time, never work. Source: writes §1, §3, §5 and §7.
"""

import asyncio
from collections.abc import Sequence

import structlog

from dormouse import telemetry
from dormouse.clock import Clock
from dormouse.errors import NotFoundError, UnavailableError
from dormouse.ids import BlobKey, JobId, WorkspaceId
from dormouse.model.job import CancelReason
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.ports.message_bus import MessageBus
from dormouse.ports.workspace_directory import WorkspaceDirectory

PERIOD_MS = 30_000
SHORTEST_WAIT_MS = 20  # bounds how often it can look, whatever comes due
BLOBS_EVERY_MS = 3600 * 1000
ORPHAN_AGE_MS = 24 * 3600 * 1000
DUE_AT_ONCE = 200
BLOBS_AT_ONCE = 500

log = structlog.get_logger()


class Sweeper:
    def __init__(
        self, catalog: Catalog, blobs: BlobStore, bus: MessageBus, directory: WorkspaceDirectory, clock: Clock
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._bus = bus
        self._directory = directory
        self._clock = clock
        self._alarm = asyncio.Event()
        self._blobs_due_ms = 0

    async def run(self) -> None:
        """Until cancelled. It holds nothing, so it may end at any point."""
        while True:
            self._alarm.clear()
            wait_ms = SHORTEST_WAIT_MS
            try:
                async with self._catalog.duty("sweep") as is_ours:
                    if is_ours:
                        await self.sweep()
                wait_ms = await self._wait_ms()
            except UnavailableError as exc:
                log.warning("sweep_failed", code=exc.code)
                wait_ms = PERIOD_MS // 10
            await self._sleep(wait_ms / 1000)

    def wake(self) -> None:
        """Something was parked or became due: look again at once."""
        self._alarm.set()

    async def sweep(self) -> None:
        """One round. Raises `UnavailableError`."""
        async with self._catalog.reading() as tx:
            jobs = await tx.work.due(DUE_AT_ONCE)
            workspaces = await tx.workspaces.with_due_changes()
        for workspace, job in jobs:
            await self._bus.ring_ingest(workspace, job)
        for workspace in workspaces:
            await self._bus.ring_apply(workspace)
        await self._expire_sessions()
        await self._measure()
        if self._clock.now_ms() >= self._blobs_due_ms:
            self._blobs_due_ms = self._clock.now_ms() + BLOBS_EVERY_MS
            await self.sweep_blobs()

    async def sweep_blobs(self) -> int:
        """Erase blobs of over 24 hours that no row names, or that only a forgotten job's rows still name."""
        erased = 0
        for workspace in await self._directory.all():
            old: list[BlobKey] = []
            async for blob in self._blobs.list(workspace):
                if self._clock.now_ms() - blob.modified_ms > ORPHAN_AGE_MS:
                    old.append(blob.key)
                if len(old) >= BLOBS_AT_ONCE:
                    erased += await self._erase_orphans(old)
                    old = []
            erased += await self._erase_orphans(old)
        return erased

    async def _erase_orphans(self, blobs: Sequence[BlobKey]) -> int:
        async with self._catalog.reading() as tx:
            kept = await tx.ontologies.named_blobs(blobs)
            blobs = [each for each in blobs if each not in kept]
            named = await tx.blobs.named(blobs)
            orphans = [each for each in blobs if each not in named or await _is_forgotten(tx, each)]
        for blob in orphans:
            await self._blobs.erase(blob)
        return len(orphans)

    async def _expire_sessions(self) -> None:
        async with self._catalog.transaction() as tx:
            if await tx.sessions.expire():
                await tx.commit()

    async def _measure(self) -> None:
        unapplied, oldest_ms = 0, self._clock.now_ms()
        async with self._catalog.reading() as tx:
            for workspace in await self._directory.all():
                unapplied += await tx.past.unapplied_count(workspace)
                oldest_ms = min(oldest_ms, await _oldest_ms(tx, workspace, oldest_ms))
        telemetry.backlog(unapplied=unapplied, oldest_age_s=(self._clock.now_ms() - oldest_ms) / 1000)

    async def _wait_ms(self) -> int:
        async with self._catalog.reading() as tx:
            due_ms = await tx.work.next_due_ms()
        until_due_ms = PERIOD_MS if due_ms is None else due_ms - self._clock.now_ms()
        return min(max(until_due_ms, SHORTEST_WAIT_MS), PERIOD_MS)

    async def _sleep(self, wait_s: float) -> None:
        try:
            async with asyncio.timeout(wait_s):
                await self._alarm.wait()
        except TimeoutError:
            return


async def _oldest_ms(tx: CatalogTransaction, workspace: WorkspaceId, now_ms: int) -> int:
    """When the job of the first change that waits was accepted."""
    change = await tx.changes.next_unapplied(workspace)
    return now_ms if change is None else (await tx.jobs.get(change.job)).accepted_ms


async def _is_forgotten(tx: CatalogTransaction, blob: BlobKey) -> bool:
    """A forget that is through, or a job that one overtook: nothing reads their blobs any more.

    Forgetting the memory alone leaves the item, whose text may lie beside such a job.
    """
    try:
        job = await tx.jobs.get(JobId(blob.split("/")[1]))
    except NotFoundError:
        return True
    if job.document is not None and await tx.documents.get(job.document) is not None:
        return False
    return job.stage.is_final and (job.kind.is_forget or job.cancel_reason is CancelReason.FORGOTTEN)
