"""Enrichment: memories derived by a language model, after a job is searchable and never in anybody's way.

It has tasks of its own, so a slow model holds up neither extraction nor search. A job is leased; each window is
stored and gets a change row before the next one counts as done, so that a successor asks for nothing twice. Any
end is a good one: what could not be derived stays as rules found it, and the job says why. Source: writes §4.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace

import structlog

from dormouse import telemetry
from dormouse.errors import LeaseLostError, ModelRefusedError, UnavailableError
from dormouse.ingest.budget import TokenBudget
from dormouse.ingest.derive import Derivation, Derived, Task
from dormouse.ingest.outcome import Outcomes
from dormouse.jobs.lease import LEASE_MS, held
from dormouse.jobs.progress import (
    append_window,
    end_overtaken,
    finish_enrichment,
    give_up_enrichment,
    out_of_date,
)
from dormouse.jobs.transition import (
    MAX_ATTEMPTS,
    added,
    attempt_pause_ms,
    failure_of,
    moved,
    parked,
    passing_pause_ms,
)
from dormouse.model.job import Job, JobFailure, Stage
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.message_bus import MessageBus

PATIENCE_MS = 24 * 3600 * 1000  # an endpoint that is away for longer will not be missed by this job
LOOK_EVERY_S = 30.0  # a lost wake-up costs this much
SHORTEST_WAIT_S = 0.05

NOT_CONFIGURED = JobFailure(
    code="llm_not_configured",
    message="no language model is configured any more; remember it again with one to derive its memories",
    retryable=False,
    stage=Stage.ENRICHING,
)
_SPENT = JobFailure(
    code="llm_budget_spent",
    message="the tokens that one item may take were spent; raise DORMOUSE_LLM__JOB_TOKENS for longer ones",
    retryable=False,
    stage=Stage.ENRICHING,
)

_OVERTAKEN = "a forget or a newer revision came first"

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class EnrichLimits:
    """`slots` is how many calls may run at the same time, `job_tokens` what one job may spend (0: any)."""

    slots: int = 2
    job_tokens: int = 0


class EnrichWorker:
    """`outcomes` carries the holder under which jobs are leased: another than extraction's."""

    def __init__(
        self,
        catalog: Catalog,
        bus: MessageBus,
        derivation: Derivation,
        outcomes: Outcomes,
        limits: EnrichLimits,
    ) -> None:
        self._catalog = catalog
        self._bus = bus
        self._derivation = derivation
        self._outcomes = outcomes
        self._limits = limits
        self._turn = asyncio.Lock()
        self._alarm = asyncio.Event()

    def wake(self) -> None:
        """Something became searchable."""
        self._alarm.set()

    async def run(self) -> None:
        """Until cancelled; calls under way are given up then, and their jobs released."""
        async with asyncio.TaskGroup() as group:
            for number in range(self._limits.slots):
                group.create_task(self._take_turns(), name=f"enrich-{number}")

    async def enrich_next(self) -> bool:
        """Claim the first job that waits and bring it as far as it goes now; False when none waits."""
        job = await self._claim()
        if job is not None:
            await self._enrich(job)
        return job is not None

    async def _take_turns(self) -> None:
        while True:
            async with self._turn:
                job = await self._next()
            await self._enrich(job)

    async def _next(self) -> Job:
        while True:
            self._alarm.clear()
            wait_s = LOOK_EVERY_S
            try:
                job = await self._claim()
                if job is not None:
                    return job
                wait_s = await self._wait_s()
            except UnavailableError as exc:
                log.warning("enrich_claim_failed", code=exc.code)
                wait_s = 1.0
            try:
                async with asyncio.timeout(wait_s):
                    await self._alarm.wait()
            except TimeoutError:
                continue

    async def _claim(self) -> Job | None:
        async with self._catalog.transaction() as tx:
            job = await tx.enrichment.claim_next(self._outcomes.holder, LEASE_MS)
            if job is None:
                return None
            if job.stage is Stage.SEARCHABLE or job.parked_reason is not None:
                job = moved(job, Stage.ENRICHING, tx.now_ms)
                await tx.jobs.save(job)
            await tx.commit()
            return job

    async def _wait_s(self) -> float:
        async with self._catalog.reading() as tx:
            due_ms, now_ms = await tx.enrichment.next_due_ms(), tx.now_ms
        until_due_s = LOOK_EVERY_S if due_ms is None else (due_ms - now_ms) / 1000
        return min(max(until_due_s, SHORTEST_WAIT_S), LOOK_EVERY_S)

    async def _enrich(self, job: Job) -> None:
        try:
            with telemetry.process("dormouse.enrich", workspace=job.workspace, job=job.id):
                await self._settle_outcome(job)
        except LeaseLostError:
            log.info("enrich_lease_lost", job=job.id)
        except UnavailableError as exc:
            # The outcome itself could not be written: the lease runs out and somebody tries again.
            log.warning("enrich_outcome_unwritten", job=job.id, code=exc.code)

    async def _settle_outcome(self, job: Job) -> None:
        try:
            if job.attempts >= MAX_ATTEMPTS:
                await self._give_up(job, failure_of(RuntimeError(), Stage.ENRICHING))
                return
            async with held(lambda: self._renew(job)):
                await self._work(job)
        except LeaseLostError:
            if not await self._outcomes.end_outdated(job):
                raise
        except ModelRefusedError as exc:
            await self._give_up(job, failure_of(exc, Stage.ENRICHING))
        except UnavailableError as exc:
            await self._wait(job, exc)
        except Exception as exc:  # noqa: BLE001  the boundary of a job: whatever it was, the receipt tells
            await self._count_attempt(job, exc)
        finally:
            await self._outcomes.release(job)

    async def _renew(self, job: Job) -> None:
        """A forget or a newer revision ends what is under way, calls included."""
        await self._outcomes.renew(job)
        async with self._catalog.reading() as tx:
            current = await tx.jobs.get(job.id)
            if current.stage.is_final or await out_of_date(tx, current) is not None:
                raise LeaseLostError(_OVERTAKEN)

    async def _work(self, job: Job) -> None:
        task = await self._derivation.task(job)
        if task is None:
            raise LeaseLostError(_OVERTAKEN)
        await self._note_windows(job, len(task.windows))
        budget = TokenBudget(self._limits.job_tokens, spent=job.counts.tokens_in + job.counts.tokens_out)
        waiting = iter([index for index in range(len(task.windows)) if index not in task.stored])
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(self._limits.slots):
                    group.create_task(self._derive(task, waiting, budget), name=f"derive-{number}")
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None  # as if the windows had been taken one by one
        await self._finish(job, _SPENT if budget.refused else None)

    async def _derive(self, task: Task, waiting: Iterator[int], budget: TokenBudget) -> None:
        for index in waiting:
            # A copy costs nothing, so it is made even where the tokens are spent.
            is_copied = self._derivation.is_copied(task, index)
            estimate = 0 if is_copied else self._derivation.estimated_tokens(task.windows[index])
            if not budget.hold(estimate):
                continue
            actual = 0
            try:
                derived = await self._derivation.derive(task, index)
                actual = derived.counts.tokens_in + derived.counts.tokens_out
            finally:
                budget.settle(estimate, actual)
            await self._publish(task.job, derived)

    async def _note_windows(self, job: Job, windows: int) -> None:
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(job.workspace)
            current = await tx.jobs.get(job.id)
            if not current.stage.is_final and current.counts.windows != windows:
                await tx.jobs.save(replace(current, counts=replace(current.counts, windows=windows)))
                await tx.commit()

    async def _publish(self, job: Job, derived: Derived) -> None:
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(job.workspace)
            current = await tx.jobs.get(job.id)
            if current.stage.is_final or await out_of_date(tx, current) is not None:
                raise LeaseLostError(_OVERTAKEN)
            await tx.work.heartbeat(job.id, self._outcomes.holder, LEASE_MS)
            counts = added(current.counts, derived.counts)
            await tx.jobs.save(replace(current, counts=counts, updated_ms=tx.now_ms))
            stored = set(await tx.enrichment.windows(job.id)) | {derived.index}
            is_last = len(stored) >= counts.windows
            await append_window(tx, current, derived.index, derived.blob, is_last=is_last)
            await tx.commit()
        try:
            await self._bus.ring_apply(job.workspace)
        except UnavailableError as exc:
            log.warning("apply_bell_lost", job=job.id, code=exc.code)  # the sweeper rings again

    async def _finish(self, job: Job, failure: JobFailure | None) -> None:
        """Nothing more is derived; applying the last window completes the job, if it did not already."""
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(job.workspace)
            current = await tx.jobs.get(job.id)
            if current.stage.is_final:
                return
            if failure is None:
                current = await finish_enrichment(tx, current)
            else:
                current = await give_up_enrichment(tx, current, failure)
            await tx.commit()
            if current.stage is Stage.COMPLETE:
                telemetry.job_reached("complete", (tx.now_ms - job.accepted_ms) / 1000)

    async def _give_up(self, job: Job, failure: JobFailure) -> None:
        log.warning("enrichment_given_up", job=job.id, code=failure.code)
        await self._finish(job, failure)

    async def _wait(self, job: Job, error: UnavailableError) -> None:
        async with self._catalog.reading() as tx:
            waited_ms = tx.now_ms - (job.searchable_ms or job.accepted_ms)
        if waited_ms >= PATIENCE_MS:
            await self._give_up(job, failure_of(error, Stage.ENRICHING))
            return
        log.info("enrichment_waits", job=job.id, code=error.code)
        await self._park(job, error.code, passing_pause_ms(waited_ms, error.retry_after_s), job.attempts)

    async def _count_attempt(self, job: Job, error: Exception) -> None:
        attempts = job.attempts + 1
        log.warning("enrich_attempt_failed", job=job.id, error=type(error).__name__, attempts=attempts)
        if attempts >= MAX_ATTEMPTS:
            await self._give_up(job, failure_of(error, Stage.ENRICHING))
        else:
            await self._park(job, "internal", attempt_pause_ms(attempts), attempts)

    async def _park(self, job: Job, reason: str, pause_ms: int, attempts: int) -> None:
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(job.workspace)
            current = await tx.jobs.get(job.id)
            if not current.stage.is_final:
                waiting = parked(current, reason, tx.now_ms, pause_ms=pause_ms)
                await tx.jobs.save(replace(waiting, attempts=attempts))
                await tx.commit()
        self.wake()  # whoever waits for the next job must look at this one's time


async def end_without_model(catalog: Catalog) -> None:
    """A start without a model: jobs that waited for one are complete, and say what they lack."""
    while True:
        async with catalog.transaction() as tx:
            unfinished = [job for job in await tx.enrichment.unfinished() if job.enrichment_failure is None]
            for job in unfinished:
                await tx.changes.lock(job.workspace)
                reason = await out_of_date(tx, job)
                if reason is None:
                    await give_up_enrichment(tx, job, NOT_CONFIGURED)
                else:
                    await end_overtaken(tx, job, reason)
            await tx.commit()
        if not unfinished:
            return
