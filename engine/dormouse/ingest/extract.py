"""Extraction: a job is leased, cut and computed part by part; ready parts become changes.

Any worker can take a job over at any point and goes on at the first missing part. Source: writes §2 and §4.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import structlog

from dormouse import telemetry
from dormouse.codec.plan import ChunkPlan
from dormouse.errors import InvalidInputError, LeaseLostError, UnavailableError
from dormouse.ids import BlobKey, JobId, WorkspaceId
from dormouse.ingest.outcome import Outcomes
from dormouse.ingest.prepare import Cut, Order, Preparation
from dormouse.jobs.busy import Busy, until_cancelled
from dormouse.jobs.lease import LEASE_MS, held
from dormouse.jobs.progress import append_ready_parts, out_of_date
from dormouse.jobs.transition import MAX_ATTEMPTS, moved
from dormouse.model.job import Job, PartRow, Stage
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.ports.message_bus import MessageBus

SHORT_BYTES = 4 * 1024  # half a dozen passages: embedded in a fraction of a second
CLAIM_PAUSE_S = 1.0  # after a catalog that did not answer

log = structlog.get_logger()


class ExtractWorker:
    """Works on up to `slots` jobs at once, small ones first as the bells bring them, and on one short one.

    A slot is left only between two parts, so large jobs in all of them would keep every note waiting for one:
    the slot for short jobs is never theirs. They cannot starve for it, since the others take any job in turn.
    """

    def __init__(
        self,
        catalog: Catalog,
        bus: MessageBus,
        preparation: Preparation,
        outcomes: Outcomes,
        *,
        slots: int = 2,
    ) -> None:
        self._catalog = catalog
        self._bus = bus
        self._preparation = preparation
        self._outcomes = outcomes
        self._slots = slots
        self._busy = Busy()

    async def run(self) -> None:
        """Until cancelled; then jobs at work end after the part they are at and are released."""
        self._busy = Busy()  # a run before this one may have been drained
        bells, turn = self._bus.ingest_bells(), asyncio.Lock()
        short = self._bus.ingest_bells(most_bytes=SHORT_BYTES)
        async with asyncio.TaskGroup() as group:
            for number in range(self._slots):
                group.create_task(self._take_turns(bells, turn), name=f"extract-{number}")
            group.create_task(self._take_turns(short, asyncio.Lock()), name="extract-short")
            await until_cancelled(self._busy)

    async def extract(self, job: JobId) -> None:
        """Claim the job and bring it as far as it goes now; nothing happens if it cannot be claimed."""
        claimed = await self._claim(job)
        if claimed is not None:
            await self._extract_claimed(claimed)

    async def _take_turns(self, bells: AsyncIterator[tuple[WorkspaceId, JobId]], turn: asyncio.Lock) -> None:
        while not self._busy.is_draining:
            # One at a time and only when free, so that the smallest waiting job is chosen last-minute.
            async with turn:
                job = await self._next(bells)
            with self._busy.working():
                await self._extract_claimed(job)

    async def _next(self, bells: AsyncIterator[tuple[WorkspaceId, JobId]]) -> Job:
        while True:
            _, job = await anext(bells)
            try:
                claimed = await self._claim(job)
            except UnavailableError as exc:
                log.warning("extract_claim_failed", code=exc.code)
                await asyncio.sleep(CLAIM_PAUSE_S)
                continue
            if claimed is not None:
                return claimed

    async def _claim(self, job: JobId) -> Job | None:
        return await self._catalog.write(lambda tx: _claimed(tx, job, self._outcomes.holder))

    async def _extract_claimed(self, job: Job) -> None:
        try:
            with telemetry.process("dormouse.ingest", workspace=job.workspace, job=job.id):
                if job.attempts >= MAX_ATTEMPTS:
                    await self._outcomes.give_up(job)
                else:
                    await self._settle_outcome(job)
        except LeaseLostError:
            log.info("extract_lease_lost", job=job.id)
        except UnavailableError as exc:
            # The outcome itself could not be written: the lease runs out and somebody tries again.
            log.warning("extract_outcome_unwritten", job=job.id, code=exc.code)

    async def _settle_outcome(self, job: Job) -> None:
        try:
            async with held(lambda: self._outcomes.renew(job)):
                await self._work(job)
        except LeaseLostError:
            raise
        except InvalidInputError as exc:
            await self._outcomes.fail(job, exc)
        except UnavailableError as exc:
            await self._outcomes.park(job, exc)
        except Exception as exc:  # noqa: BLE001  the boundary of a job: whatever it was, the receipt tells
            await self._outcomes.count_attempt(job, exc)
        else:
            await self._outcomes.release(job)
            await self._bus.ring_ingest(job.workspace, job.id)  # it may have parts left: see `_gives_way`

    async def _work(self, job: Job) -> None:
        order = await self._preparation.order(job)
        if order is None:
            await self._outcomes.end_outdated(job)
            return
        cut = await self._preparation.cut(order, await self._plan(order))
        done = {part.index for part in await self._catalog.read(lambda tx: tx.work.parts(job.id))}
        for index in range(cut.plan.parts):
            if index in done:
                continue
            if self._busy.is_draining or not await self._advance(order, cut, index):
                return
            if await self._gives_way(job):
                return

    async def _gives_way(self, job: Job) -> bool:
        """Between two parts: a few large jobs in every slot would keep a short note waiting for minutes."""

        async def line_up(tx: CatalogTransaction) -> bool:
            gives_way = await tx.work.line_up_again(job)
            await tx.commit()
            return gives_way

        return await self._catalog.write(line_up)

    async def _plan(self, order: Order) -> ChunkPlan:
        stored = await self._preparation.stored_plan(order)
        if stored is not None:
            return stored
        plan, key = await self._preparation.make_plan(order)
        await self._catalog.write(lambda tx: _note_plan(tx, order.job, key, plan))
        return plan

    async def _advance(self, order: Order, cut: Cut, index: int) -> bool:
        """Make one part and give it to the appliers; False when the job ended meanwhile."""
        blob = await self._preparation.make_part(order, cut, index)
        row = PartRow(order.job.id, index, blob, len(cut.plan.part(index)))
        if await self._publish(row, is_last=index == cut.plan.parts - 1):
            await self._ring(order.job)
            return True
        return not await self._outcomes.end_outdated(order.job)

    async def _ring(self, job: Job) -> None:
        try:
            await self._bus.ring_apply(job.workspace)
        except UnavailableError as exc:
            log.warning("apply_bell_lost", job=job.id, code=exc.code)  # the sweeper rings again

    async def _publish(self, part: PartRow, *, is_last: bool) -> bool:
        return await self._catalog.write(
            lambda tx: _published(tx, part, self._outcomes.holder, is_last=is_last)
        )


async def _claimed(tx: CatalogTransaction, job: JobId, holder: str) -> Job | None:
    claimed = await tx.work.claim(job, holder, LEASE_MS)
    if claimed is None:
        return None
    if claimed.stage is Stage.ACCEPTED or claimed.parked_reason is not None:
        claimed = moved(claimed, Stage.EXTRACTING, tx.now_ms)
        await tx.jobs.save(claimed)
    await tx.commit()
    return claimed


async def _note_plan(tx: CatalogTransaction, of: Job, key: BlobKey, plan: ChunkPlan) -> None:
    await tx.changes.lock(of.workspace)
    job = await tx.jobs.get(of.id)
    if not job.stage.is_final:
        await tx.work.save_plan(of.id, key, plan.parts, len(plan.passages))
        counts = replace(job.counts, parts=plan.parts, passages=len(plan.passages))
        await tx.jobs.save(replace(job, counts=counts, updated_ms=tx.now_ms))
    await tx.commit()


async def _published(tx: CatalogTransaction, part: PartRow, holder: str, *, is_last: bool) -> bool:
    """False when the job ended meanwhile, and nothing of the part is kept."""
    workspace = (await tx.jobs.get(part.job)).workspace
    await tx.changes.lock(workspace)
    job = await tx.jobs.get(part.job)
    if job.stage.is_final or await out_of_date(tx, job) is not None:
        return False
    await tx.work.heartbeat(job.id, holder, LEASE_MS)
    await tx.work.add_part(part)
    if is_last:
        await tx.jobs.save(moved(job, Stage.APPLYING, tx.now_ms))
    await append_ready_parts(tx, job)
    await tx.commit()
    return True
