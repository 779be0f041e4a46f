"""Jobs as receipts, the steps each went through, and the keys that make a repeated call safe.

Source: writes §1 and §4.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, Update, and_, bindparam, delete, func, or_, select, update

from dormouse.adapters.catalog.connection import CatalogConnection, in_batches
from dormouse.adapters.catalog.tables import datasets as dataset_rows
from dormouse.adapters.catalog.tables import idempotency_keys, job_steps, jobs
from dormouse.errors import ConflictError, NotFoundError
from dormouse.ids import DatasetId, DocumentId, JobId, PrincipalId, WorkspaceId
from dormouse.model.job import CancelReason, Job, JobCounts, JobFailure, JobKind, JobStep, Stage

KEY_LIFETIME_MS = 24 * 3600 * 1000  # promised to callers; writes §1

# A job waits as long behind smaller ones as this many bytes make of it: a megabyte lets what comes within
# the next 16 s go first, the largest document what comes within less than three minutes.
BYTES_PER_MS_OF_TURN = 64

NOT_YET_SEARCHABLE = [stage.value for stage in Stage if not (stage.is_final or stage.is_searchable)]
UNFINISHED = [stage.value for stage in Stage if not stage.is_final]

# Built once: a job is saved at each of its steps, and building a statement takes longer than running it.
_BY_ID = select(jobs).where(jobs.c.id == bindparam("job"))
_STAGE = select(jobs.c.stage).where(jobs.c.id == bindparam("job")).with_for_update()
_STEPS = select(func.count()).select_from(job_steps).where(job_steps.c.job == bindparam("job"))


class SqlJobLedger:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def add(self, job: Job) -> None:
        turn_ms = job.accepted_ms + job.counts.size_bytes // BYTES_PER_MS_OF_TURN
        await self._connection.insert(
            jobs, {"id": job.id, **_columns(job), "lease_expires_ms": 0, "turn_ms": turn_ms}
        )
        await self._note_step(job, 0)

    async def get(self, job: JobId) -> Job:
        row = await self._connection.row(_BY_ID, {"job": job})
        if row is None:
            raise NotFoundError("no such job")
        return job_of(row)

    async def save(self, job: Job) -> None:
        stage = await self._connection.value(_STAGE, {"job": job.id})
        if stage is None:
            raise NotFoundError("no such job")
        if Stage(stage).is_final:
            raise ConflictError("the job has ended; final states never change")
        await self._connection.update(jobs, {"id": job.id}, _columns(job))
        if job.stage.value != stage:
            await self._note_step(job, await self._connection.value(_STEPS, {"job": job.id}))

    async def steps(self, job: JobId) -> Sequence[JobStep]:
        rows = await self._connection.rows(
            select(job_steps).where(job_steps.c.job == job).order_by(job_steps.c.number)
        )
        return [JobStep(JobId(row.job), Stage(row.stage), row.at_ms) for row in rows]

    async def listing(
        self,
        workspace: WorkspaceId,
        principal: PrincipalId,
        *,
        datasets: Collection[DatasetId] = (),
        stages: Collection[Stage] = (),
        before: tuple[int, JobId] | None = None,
        limit: int = 50,
    ) -> Sequence[Job]:
        visible: list[ColumnElement[bool]] = [jobs.c.dataset.in_(batch) for batch in in_batches(datasets)]
        if not datasets:
            visible = [jobs.c.principal == principal]
        statement = select(jobs).where(jobs.c.workspace == workspace, or_(*visible))
        if stages:
            statement = statement.where(jobs.c.stage.in_([stage.value for stage in stages]))
        if before is not None:
            accepted_ms, last = before
            statement = statement.where(
                or_(jobs.c.accepted_ms < accepted_ms, and_(jobs.c.accepted_ms == accepted_ms, jobs.c.id < last))
            )
        newest_first = statement.order_by(jobs.c.accepted_ms.desc(), jobs.c.id.desc()).limit(limit)
        return [job_of(row) for row in await self._connection.rows(newest_first)]

    async def unfinished_or_latest_of(self, datasets: Collection[DatasetId]) -> Sequence[Job]:
        found: list[Job] = []
        for batch in in_batches(datasets):
            running = await self._connection.rows(
                select(jobs)
                .where(jobs.c.dataset.in_(batch), _REMEMBERS, jobs.c.stage.in_(NOT_YET_SEARCHABLE))
                .order_by(jobs.c.accepted_ms, jobs.c.id)
            )
            quiet = set(batch) - {row.dataset for row in running}
            latest = await self._connection.rows(_latest_of(quiet))
            found.extend(job_of(row) for row in (*running, *latest))
        return found

    async def unfinished_of(self, document: DocumentId) -> Sequence[Job]:
        rows = await self._connection.rows(
            select(jobs)
            .where(jobs.c.document == document, jobs.c.stage.in_(UNFINISHED))
            .order_by(jobs.c.accepted_ms, jobs.c.id)
        )
        return [job_of(row) for row in rows]

    async def idempotent(self, principal: PrincipalId, route: str, key: str) -> tuple[str, str] | None:
        row = await self._connection.row(
            select(idempotency_keys.c.job, idempotency_keys.c.body_sha256).where(
                idempotency_keys.c.principal == principal,
                idempotency_keys.c.route == route,
                idempotency_keys.c.key == key,
                idempotency_keys.c.created_ms > self._connection.now_ms - KEY_LIFETIME_MS,
            )
        )
        return None if row is None else (row.job, row.body_sha256)

    async def remember_key(
        self, principal: PrincipalId, route: str, key: str, body_sha256: str, answer: str
    ) -> None:
        now_ms = self._connection.now_ms
        await self._connection.run(
            delete(idempotency_keys).where(idempotency_keys.c.created_ms <= now_ms - KEY_LIFETIME_MS)
        )
        await self._connection.insert(
            idempotency_keys,
            {
                "principal": principal,
                "route": route,
                "key": key,
                "body_sha256": body_sha256,
                "job": answer,
                "created_ms": now_ms,
            },
        )

    async def _note_step(self, job: Job, number: int) -> None:
        await self._connection.insert(
            job_steps,
            {"job": job.id, "number": number, "stage": job.stage.value, "at_ms": self._connection.now_ms},
        )


def answers_forgotten(condition: ColumnElement[bool]) -> Update:
    """What was answered under these keys is gone; until they end, the keys still tell that it was there."""
    return update(idempotency_keys).where(condition).values(body_sha256="")


_REMEMBERS = jobs.c.kind == JobKind.REMEMBER.value
# A forget of the whole tells that nothing before it counts.
_TELLING = [kind.value for kind in (JobKind.REMEMBER, JobKind.FORGET_DATASET, JobKind.FORGET_EVERYTHING)]
_of_dataset = jobs.alias()
_latest_id = (
    select(_of_dataset.c.id)
    .where(
        _of_dataset.c.dataset == dataset_rows.c.id,
        _of_dataset.c.kind.in_(_TELLING),
        _of_dataset.c.stage != Stage.CANCELLED.value,
    )
    .order_by(_of_dataset.c.accepted_ms.desc(), _of_dataset.c.id.desc())
    .limit(1)
    .correlate(dataset_rows)
    .scalar_subquery()
)


def _latest_of(datasets: Collection[str]) -> Select[*tuple[Any, ...]]:
    # One look into the index per dataset, however many jobs each has had.
    latest = select(_latest_id).select_from(dataset_rows).where(dataset_rows.c.id.in_(datasets))
    return select(jobs).where(jobs.c.id.in_(latest), _REMEMBERS).order_by(jobs.c.accepted_ms, jobs.c.id)


def job_of(row: Row[*tuple[Any, ...]]) -> Job:
    """The job in a row that has all its columns."""
    return Job(
        id=JobId(row.id),
        workspace=WorkspaceId(row.workspace),
        principal=PrincipalId(row.principal),
        kind=JobKind(row.kind),
        dataset=None if row.dataset is None else DatasetId(row.dataset),
        document=None if row.document is None else DocumentId(row.document),
        revision=row.revision,
        stage=Stage(row.stage),
        accepted_ms=row.accepted_ms,
        updated_ms=row.updated_ms,
        finished_ms=row.finished_ms,
        searchable_ms=row.searchable_ms,
        counts=JobCounts(**json.loads(row.counts)),
        failure=_failure(row.failure),
        cancel_reason=None if row.cancel_reason is None else CancelReason(row.cancel_reason),
        is_duplicate=bool(row.is_duplicate),
        retry_of=None if row.retry_of is None else JobId(row.retry_of),
        attempts=row.attempts,
        parked_reason=row.parked_reason,
        next_attempt_ms=row.next_attempt_ms,
        enrichment_failure=_failure(row.enrichment_failure),
    )


def _failure(stored: str | None) -> JobFailure | None:
    if stored is None:
        return None
    fields = json.loads(stored)
    return JobFailure(**{**fields, "stage": Stage(fields["stage"])})


def _stored(failure: JobFailure | None) -> str | None:
    return None if failure is None else json.dumps(asdict(failure))


def _columns(job: Job) -> dict[str, object]:
    return {
        "workspace": job.workspace,
        "principal": job.principal,
        "kind": job.kind.value,
        "dataset": job.dataset,
        "document": job.document,
        "revision": job.revision,
        "stage": job.stage.value,
        "accepted_ms": job.accepted_ms,
        "updated_ms": job.updated_ms,
        "finished_ms": job.finished_ms,
        "searchable_ms": job.searchable_ms,
        "counts": json.dumps(asdict(job.counts)),
        "failure": _stored(job.failure),
        "enrichment_failure": _stored(job.enrichment_failure),
        "cancel_reason": None if job.cancel_reason is None else job.cancel_reason.value,
        "is_duplicate": int(job.is_duplicate),
        "retry_of": job.retry_of,
        "attempts": job.attempts,
        "parked_reason": job.parked_reason,
        "next_attempt_ms": job.next_attempt_ms,
    }
