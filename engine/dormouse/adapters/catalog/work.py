"""Extraction work: who extracts which job, how far it came, and what nobody has taken up.

Source: writes §2.
"""

from collections.abc import Sequence

from sqlalchemy import BigInteger, and_, bindparam, exists, func, or_, select, union_all, update

from dormouse.adapters.catalog.connection import CatalogConnection
from dormouse.adapters.catalog.jobs import BYTES_PER_MS_OF_TURN, NOT_YET_SEARCHABLE, job_of
from dormouse.adapters.catalog.tables import (
    apply_leases,
    changes,
    jobs,
    plans,
    revisions,
    workspaces,
)
from dormouse.adapters.catalog.tables import parts as part_rows
from dormouse.errors import LeaseLostError
from dormouse.ids import BlobKey, JobId, WorkspaceId
from dormouse.model.job import Job, JobKind, PartRow

# Every planned part is stored and the first of its changes appended: a crash between the two leaves a job
# that somebody must still take up.
_EXTRACTED = and_(
    exists().where(changes.c.job == jobs.c.id),
    select(func.count()).where(part_rows.c.job == jobs.c.id).scalar_subquery()
    >= select(plans.c.parts).where(plans.c.job == jobs.c.id).scalar_subquery(),
)
_TO_EXTRACT = and_(
    jobs.c.kind == JobKind.REMEMBER.value,
    jobs.c.stage.in_(NOT_YET_SEARCHABLE),
    # No plan yet makes the comparison above unknown.
    func.coalesce(~_EXTRACTED, True),
)

_size_bytes = (
    select(revisions.c.size_bytes)
    .where(revisions.c.document == jobs.c.document, revisions.c.number == jobs.c.revision)
    .scalar_subquery()
)
_NOW_MS = bindparam("now_ms", type_=BigInteger)
_IS_READY = and_(
    or_(jobs.c.holder.is_(None), jobs.c.lease_expires_ms <= _NOW_MS),
    or_(jobs.c.next_attempt_ms.is_(None), jobs.c.next_attempt_ms <= _NOW_MS),
)

# Built once: every note asks each of these, and building one takes longer than running it.
_BY_ID = select(jobs).where(jobs.c.id == bindparam("job"))
_CLAIMED = _BY_ID.where(_TO_EXTRACT, _IS_READY).with_for_update(skip_locked=True)
_DUE = (
    select(jobs.c.workspace, jobs.c.id)
    .where(_TO_EXTRACT, _IS_READY)
    .order_by(jobs.c.turn_ms, jobs.c.id)
    .limit(bindparam("limit"))
)
_DUE_SHORT = _DUE.where(_size_bytes <= bindparam("most_bytes"))
_BEFORE = (
    select(jobs.c.id)
    .where(_TO_EXTRACT, _IS_READY, jobs.c.turn_ms < bindparam("turn_ms"), jobs.c.id != bindparam("job"))
    .limit(1)
)
_PARTS = (
    select(part_rows.c.job, part_rows.c.index.label("number"), part_rows.c.blob, part_rows.c.passages)
    .where(part_rows.c.job == bindparam("job"))
    .order_by(part_rows.c.index)
)


class SqlWorkLedger:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def claim(self, job: JobId, holder: str, duration_ms: int) -> Job | None:
        now_ms = self._connection.now_ms
        row = await self._connection.row(_CLAIMED, {"job": job, "now_ms": now_ms})
        if row is None:
            return None
        attempts = row.attempts + (row.holder is not None)
        await self._connection.run(
            update(jobs)
            .where(jobs.c.id == job)
            .values(holder=holder, lease_expires_ms=now_ms + duration_ms, attempts=attempts)
        )
        return await self._job(job)

    async def heartbeat(self, job: JobId, holder: str, duration_ms: int) -> None:
        held = await self._connection.run(
            update(jobs)
            .where(jobs.c.id == job, jobs.c.holder == holder)
            .values(lease_expires_ms=self._connection.now_ms + duration_ms)
        )
        if not held:
            raise LeaseLostError("another worker extracts this job")

    async def release(self, job: JobId, holder: str) -> None:
        await self._connection.run(
            update(jobs)
            .where(jobs.c.id == job, jobs.c.holder == holder)
            .values(holder=None, lease_expires_ms=0)
        )

    async def plan(self, job: JobId) -> BlobKey | None:
        blob = await self._connection.value(select(plans.c.blob).where(plans.c.job == job))
        return None if blob is None else BlobKey(blob)

    async def save_plan(self, job: JobId, plan: BlobKey, parts: int, passages: int) -> None:
        await self._connection.put(plans, {"job": job, "blob": plan, "parts": parts, "passages": passages})

    async def add_part(self, part: PartRow) -> None:
        await self._connection.insert_if_absent(
            part_rows, {"job": part.job, "index": part.index, "blob": part.blob, "passages": part.passages}
        )

    async def parts(self, job: JobId) -> Sequence[PartRow]:
        rows = await self._connection.rows(_PARTS, {"job": job})
        return [PartRow(JobId(row.job), row.number, BlobKey(row.blob), row.passages) for row in rows]

    async def due(self, limit: int, *, most_bytes: int | None = None) -> Sequence[tuple[WorkspaceId, JobId]]:
        asked: dict[str, object] = {"now_ms": self._connection.now_ms, "limit": limit}
        if most_bytes is None:
            rows = await self._connection.rows(_DUE, asked)
        else:
            rows = await self._connection.rows(_DUE_SHORT, asked | {"most_bytes": most_bytes})
        return [(WorkspaceId(row.workspace), JobId(row.id)) for row in rows]

    async def line_up_again(self, job: Job) -> bool:
        now_ms = self._connection.now_ms
        turn_ms = now_ms + job.counts.size_bytes // BYTES_PER_MS_OF_TURN
        await self._connection.run(update(jobs).where(jobs.c.id == job.id).values(turn_ms=turn_ms))
        asked = {"now_ms": now_ms, "turn_ms": turn_ms, "job": job.id}
        return await self._connection.value(_BEFORE, asked) is not None

    async def next_due_ms(self) -> int | None:
        now_ms = self._connection.now_ms
        has_changes = exists().where(changes.c.workspace == workspaces.c.id, changes.c.applied_ms.is_(None))
        times = union_all(
            select(jobs.c.next_attempt_ms.label("at_ms")).where(_TO_EXTRACT),
            select(jobs.c.lease_expires_ms).where(_TO_EXTRACT, jobs.c.holder.is_not(None)),
            select(workspaces.c.not_before_ms).where(has_changes),
            select(apply_leases.c.expires_ms)
            .join(workspaces, workspaces.c.id == apply_leases.c.workspace)
            .where(apply_leases.c.is_released == 0, has_changes),
        ).subquery()
        # What came due already is told by `due` and `with_due_changes`.
        at_ms = await self._connection.value(select(func.min(times.c.at_ms)).where(times.c.at_ms > now_ms))
        return None if at_ms is None else int(at_ms)

    async def _job(self, job: JobId) -> Job | None:
        row = await self._connection.row(_BY_ID, {"job": job})
        return None if row is None else job_of(row)
