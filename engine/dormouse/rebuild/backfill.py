"""One bounded step of making a store anew, under the apply lease, between two changes.

The new store follows the applied changes in order, so there is one writer and one order, and whatever is
applied meanwhile is followed like everything before it. Once nothing applied is left to follow, one catalog
transaction ends the rebuild. Every step may be repeated. Source: writes §7.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from dormouse.errors import MisconfiguredError, UnavailableError
from dormouse.ids import JobId, WorkspaceId
from dormouse.jobs.transition import added, failed, moved
from dormouse.model.change import ApplyLease, Change
from dormouse.model.job import Job, JobCounts, JobFailure, Stage
from dormouse.model.rebuild import DerivedStore, Rebuild
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.rebuild.contents import ContentsReader, LostContentsError
from dormouse.rebuild.followers import Follower

CHANGES_A_STEP = 32
PASSAGES_A_STEP = 256  # a tenth of a second of writing, after which a change has its turn

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Turn:
    """`worked`: there may be more to do at once. `holds_changes`: nothing may be applied before it is done."""

    worked: bool
    holds_changes: bool


NOTHING = Turn(worked=False, holds_changes=False)


class Backfill:
    def __init__(
        self, catalog: Catalog, reader: ContentsReader, followers: Mapping[DerivedStore, Follower]
    ) -> None:
        self._catalog = catalog
        self._reader = reader
        self._followers = followers

    async def step(self, lease: ApplyLease) -> Turn:
        """Raises `LeaseLostError`; other trouble is waited for."""
        rebuilds = await self._catalog.read(lambda tx: tx.history.rebuilds(lease.workspace))
        if not rebuilds:
            return NOTHING
        rebuild = rebuilds[0]
        follower = self._followers[rebuild.store]
        try:
            worked = await self._go_on(lease, rebuild, follower)
        except (UnavailableError, MisconfiguredError) as exc:
            log.warning("rebuild_waits", workspace=lease.workspace, store=rebuild.store.value, code=exc.code)
            worked = False
        return Turn(worked, follower.holds_changes)

    async def _go_on(self, lease: ApplyLease, rebuild: Rebuild, follower: Follower) -> bool:
        if rebuild.followed_seq is None:
            await follower.begin(lease)
            await self._advance(lease, replace(rebuild, followed_seq=0, lost=0), JobCounts())
            return True
        async with self._catalog.reading() as tx:
            page = await tx.history.applied_after(lease.workspace, rebuild.followed_seq, CHANGES_A_STEP)
            documents = {change.document for change in page if change.document is not None}
            unerased = await tx.history.unerased(documents)
        if not page:
            return await self._finish(lease, rebuild, follower)
        passages = 0
        for change in page:
            try:
                if change.document in unerased:
                    passages += await self._follow(lease, change, follower)
            except LostContentsError:
                rebuild = await self._noted_lost(rebuild, change)
            rebuild = replace(rebuild, followed_seq=change.seq)
            if passages >= PASSAGES_A_STEP:
                break
        await self._advance(lease, rebuild, JobCounts(done=passages))
        return True

    async def _follow(self, lease: ApplyLease, change: Change, follower: Follower) -> int:
        contents = await self._reader.read(change)
        if contents is None:
            return 0
        await follower.follow(lease, contents)
        return len(contents.change_set.rows.passages)

    async def _noted_lost(self, rebuild: Rebuild, change: Change) -> Rebuild:
        """Unless it was forgotten meanwhile: then its contents are gone as they should be."""
        assert change.document is not None
        async with self._catalog.reading() as tx:
            if not await tx.documents.live([change.document]):
                return rebuild
        log.error("rebuild_lacks_contents", workspace=change.workspace, seq=change.seq)
        return replace(rebuild, lost=rebuild.lost + 1)

    async def _advance(self, lease: ApplyLease, rebuild: Rebuild, counts: JobCounts) -> None:
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(lease.workspace)
            if await tx.history.advance(lease, rebuild) and rebuild.job is not None:
                await _note_progress(tx, rebuild.job, counts)
            await tx.commit()

    async def _finish(self, lease: ApplyLease, rebuild: Rebuild, follower: Follower) -> bool:
        if not follower.holds_changes and await self._is_half_applied(lease.workspace):
            return False  # what it takes out of the statistics was decided before they are counted anew
        await follower.prepare()
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(lease.workspace)
            if not await tx.history.advance(lease, rebuild):
                return False
            await follower.settle(tx, lease.workspace)
            await tx.history.end(lease.workspace, rebuild.store)
            await _end_job(tx, rebuild, await tx.history.rebuilds(lease.workspace))
            await tx.commit()
        await follower.finish()
        log.info("rebuilt", workspace=lease.workspace, store=rebuild.store.value, lost=rebuild.lost)
        return True

    async def _is_half_applied(self, workspace: WorkspaceId) -> bool:
        async with self._catalog.reading() as tx:
            change = await tx.changes.next_unapplied(workspace)
        return change is not None and change.change_set is not None


async def _note_progress(tx: CatalogTransaction, job_id: JobId, counts: JobCounts) -> None:
    job = await tx.jobs.get(job_id)
    job = moved(job, Stage.APPLYING, tx.now_ms) if job.stage is Stage.ACCEPTED else job
    await tx.jobs.save(replace(job, counts=added(job.counts, counts), updated_ms=tx.now_ms))


async def _end_job(tx: CatalogTransaction, ended: Rebuild, others: Sequence[Rebuild]) -> None:
    """Complete with the last of its stores; failed if some contents could not be brought back."""
    if ended.job is None:
        return
    job = await tx.jobs.get(ended.job)
    going_on = [each for each in others if each.job == ended.job]
    if going_on:
        await tx.history.begin(replace(going_on[0], lost=going_on[0].lost + ended.lost))
    elif ended.lost:
        await tx.jobs.save(failed(_counted(job), _loss(ended.lost), tx.now_ms))
    else:
        await tx.jobs.save(moved(_counted(job), Stage.COMPLETE, tx.now_ms))


def _counted(job: Job) -> Job:
    """What was expected was an estimate; what was done is known now."""
    return replace(job, counts=replace(job.counts, passages=job.counts.done))


def _loss(lost: int) -> JobFailure:
    return JobFailure(
        code="contents_lost",
        message=f"done, but the contents of {lost} changes are missing or damaged, `dormouse audit` names "
        "them: restore them from a backup and rebuild again, or remember anew what is not found",
        retryable=False,
        stage=Stage.APPLYING,
    )
