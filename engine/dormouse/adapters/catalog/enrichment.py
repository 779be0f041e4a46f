"""Jobs whose memories a language model is still to derive. Source: writes §4."""

from collections.abc import Mapping, Sequence

from sqlalchemy import and_, exists, func, or_, select, union_all, update

from dormouse.adapters.catalog.connection import CatalogConnection
from dormouse.adapters.catalog.jobs import job_of
from dormouse.adapters.catalog.tables import changes, jobs
from dormouse.ids import BlobKey, DatasetId, JobId
from dormouse.model.change import ChangeKind
from dormouse.model.job import Job, JobKind, Stage

_ENRICHING = jobs.c.stage == Stage.ENRICHING.value
_UNFINISHED = and_(
    jobs.c.kind == JobKind.REMEMBER.value,
    jobs.c.stage.in_([Stage.SEARCHABLE.value, Stage.ENRICHING.value]),
)


# Every window has its change row, or no more will come: what is left is to apply them.
_IS_DERIVED = or_(
    jobs.c.enrichment_failure.is_not(None),
    exists().where(
        changes.c.job == jobs.c.id, changes.c.kind == ChangeKind.ENRICH.value, changes.c.is_last_part == 1
    ),
)


class SqlEnrichmentLedger:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def claim_next(self, holder: str, duration_ms: int) -> Job | None:
        now_ms = self._connection.now_ms
        # A lease on a job that has only just become searchable is the extraction's, which is over.
        is_free = or_(~_ENRICHING, jobs.c.holder.is_(None), jobs.c.lease_expires_ms <= now_ms)
        is_due = or_(jobs.c.next_attempt_ms.is_(None), jobs.c.next_attempt_ms <= now_ms)
        row = await self._connection.row(
            select(jobs)
            .where(_UNFINISHED, ~_IS_DERIVED, is_free, is_due)
            .order_by(jobs.c.turn_ms, jobs.c.id)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        if row is None:
            return None
        is_new = row.stage == Stage.SEARCHABLE.value
        attempts = 0 if is_new else row.attempts + (row.holder is not None)
        await self._connection.run(
            update(jobs)
            .where(jobs.c.id == row.id)
            .values(holder=holder, lease_expires_ms=now_ms + duration_ms, attempts=attempts)
        )
        claimed = await self._connection.row(select(jobs).where(jobs.c.id == row.id))
        assert claimed is not None
        return job_of(claimed)

    async def next_due_ms(self) -> int | None:
        times = union_all(
            select(jobs.c.next_attempt_ms.label("at_ms")).where(_UNFINISHED, ~_IS_DERIVED),
            select(jobs.c.lease_expires_ms).where(
                _UNFINISHED, ~_IS_DERIVED, _ENRICHING, jobs.c.holder.is_not(None)
            ),
        ).subquery()
        at_ms = await self._connection.value(
            select(func.min(times.c.at_ms)).where(times.c.at_ms > self._connection.now_ms)
        )
        return None if at_ms is None else int(at_ms)

    async def windows(self, job: JobId) -> Mapping[int, BlobKey]:
        rows = await self._connection.rows(
            select(changes.c.part, changes.c.blob)
            .where(changes.c.job == job, changes.c.kind == ChangeKind.ENRICH.value)
            .order_by(changes.c.part)
        )
        return {row.part: BlobKey(row.blob) for row in rows if row.blob is not None}

    async def unfinished(self, dataset: DatasetId | None = None, limit: int = 1000) -> Sequence[Job]:
        statement = select(jobs).where(_UNFINISHED).order_by(jobs.c.accepted_ms, jobs.c.id).limit(limit)
        if dataset is not None:
            statement = statement.where(jobs.c.dataset == dataset)
        return [job_of(row) for row in await self._connection.rows(statement)]
