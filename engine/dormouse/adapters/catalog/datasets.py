"""Datasets and their generations."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Row, and_, bindparam, func, select, update

from dormouse.adapters.catalog.connection import CatalogConnection, in_batches
from dormouse.adapters.catalog.tables import datasets as dataset_rows
from dormouse.adapters.catalog.tables import documents, jobs, revisions, term_totals
from dormouse.errors import NotFoundError
from dormouse.ids import DatasetId, PrincipalId, WorkspaceId, dataset_id
from dormouse.model.dataset import Dataset, DatasetSummary
from dormouse.model.job import Stage

# Built once: every call asks them, and building one costs more than running it.
_BY_ID = select(dataset_rows).where(dataset_rows.c.id == bindparam("dataset"))
_MANY = select(dataset_rows).where(dataset_rows.c.id.in_(bindparam("datasets", expanding=True)))
_OWNED = (
    select(dataset_rows)
    .where(dataset_rows.c.workspace == bindparam("workspace"), dataset_rows.c.owner == bindparam("owner"))
    .order_by(dataset_rows.c.name)
)


class SqlDatasetRegister:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def ensure(self, workspace: WorkspaceId, owner: PrincipalId, name: str) -> Dataset:
        now_ms = self._connection.now_ms
        dataset = dataset_id(owner, name)
        await self._connection.insert_if_absent(
            dataset_rows,
            {
                "id": dataset,
                "workspace": workspace,
                "owner": owner,
                "name": name,
                "generation": 0,
                "is_listed": 1,
                "created_ms": now_ms,
                "updated_ms": now_ms,
            },
        )
        await self._connection.run(
            update(dataset_rows)
            .where(dataset_rows.c.id == dataset, dataset_rows.c.is_listed == 0)
            .values(is_listed=1, updated_ms=now_ms)
        )
        return await self.get(dataset)

    async def get(self, dataset: DatasetId) -> Dataset:
        row = await self._connection.row(_BY_ID, {"dataset": dataset})
        if row is None:
            raise NotFoundError("no such dataset")
        return _dataset(row)

    async def owned_by(self, workspace: WorkspaceId, owner: PrincipalId) -> Sequence[Dataset]:
        rows = await self._connection.rows(_OWNED, {"workspace": workspace, "owner": owner})
        return [_dataset(row) for row in rows]

    async def of_workspace(self, workspace: WorkspaceId) -> frozenset[DatasetId]:
        mine = select(dataset_rows.c.id).where(dataset_rows.c.workspace == workspace)
        rows = await self._connection.rows(mine)
        return frozenset(DatasetId(row.id) for row in rows)

    async def many(self, datasets: Collection[DatasetId]) -> Sequence[Dataset]:
        found: list[Dataset] = []
        for batch in in_batches(datasets):
            rows = await self._connection.rows(_MANY, {"datasets": batch})
            found.extend(_dataset(row) for row in rows)
        return sorted(found, key=lambda dataset: (dataset.name, dataset.id))

    async def summaries(self, datasets: Collection[DatasetId]) -> Sequence[DatasetSummary]:
        found: list[DatasetSummary] = []
        for batch in in_batches(datasets):
            rows = await self._connection.rows(_SUMMARY.where(dataset_rows.c.id.in_(batch)))
            found.extend(
                DatasetSummary(_dataset(row), row.documents, row.passages or 0, row.unfinished_jobs, row.staged)
                for row in rows
            )
        return sorted(found, key=lambda summary: (summary.dataset.name, summary.dataset.id))

    async def forget(self, dataset: DatasetId) -> Dataset:
        touched = await self._connection.run(
            update(dataset_rows)
            .where(dataset_rows.c.id == dataset)
            .values(generation=dataset_rows.c.generation + 1, is_listed=0, updated_ms=self._connection.now_ms)
        )
        if not touched:
            raise NotFoundError("no such dataset")
        return await self.get(dataset)

    async def touch(self, dataset: DatasetId) -> None:
        await self._connection.update(dataset_rows, {"id": dataset}, {"updated_ms": self._connection.now_ms})


_LIVE = and_(
    documents.c.dataset == dataset_rows.c.id,
    documents.c.dataset_generation == dataset_rows.c.generation,
    documents.c.is_forgotten == 0,
)
_SUMMARY = select(
    dataset_rows,
    select(func.count()).select_from(documents).where(_LIVE).scalar_subquery().label("documents"),
    select(term_totals.c.passages)
    .where(term_totals.c.dataset == dataset_rows.c.id, term_totals.c.generation == dataset_rows.c.generation)
    .scalar_subquery()
    .label("passages"),
    select(func.count())
    .where(
        jobs.c.dataset == dataset_rows.c.id,
        jobs.c.stage.in_([stage.value for stage in Stage if not stage.is_final]),
    )
    .scalar_subquery()
    .label("unfinished_jobs"),
    select(func.count())
    .select_from(documents)
    .join(revisions, revisions.c.document == documents.c.id)
    .where(_LIVE, revisions.c.number == documents.c.newest_revision, revisions.c.is_staged == 1)
    .scalar_subquery()
    .label("staged"),
)


def _dataset(row: Row[*tuple[Any, ...]]) -> Dataset:
    return Dataset(
        DatasetId(row.id),
        WorkspaceId(row.workspace),
        PrincipalId(row.owner),
        row.name,
        row.generation,
        bool(row.is_listed),
        row.created_ms,
        row.updated_ms,
    )
