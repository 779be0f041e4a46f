"""Applied changes as a history to follow, and the stores that follow it. Source: writes §7."""

from collections.abc import Collection, Sequence

from sqlalchemy import delete, func, select, update

from dormouse.adapters.catalog.changes import change_of
from dormouse.adapters.catalog.connection import CatalogConnection, in_batches
from dormouse.adapters.catalog.tables import changes, jobs, part_vectors, parts, rebuilds
from dormouse.adapters.catalog.tables import documents as document_rows
from dormouse.adapters.catalog.workspaces import assert_lease
from dormouse.ids import BlobKey, DocumentId, JobId, WorkspaceId
from dormouse.model.change import ApplyLease, Change
from dormouse.model.job import PartRow
from dormouse.model.rebuild import DerivedStore, Rebuild


class SqlChangeHistory:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def applied_after(self, workspace: WorkspaceId, seq: int, limit: int) -> Sequence[Change]:
        rows = await self._connection.rows(
            select(changes)
            .where(changes.c.workspace == workspace, changes.c.seq > seq, changes.c.applied_ms.is_not(None))
            .order_by(changes.c.seq)
            .limit(limit)
        )
        return [change_of(row) for row in rows]

    async def unerased(self, documents: Collection[DocumentId]) -> frozenset[DocumentId]:
        found: set[DocumentId] = set()
        for batch in in_batches(documents):
            rows = await self._connection.rows(select(document_rows.c.id).where(document_rows.c.id.in_(batch)))
            found.update(DocumentId(row.id) for row in rows)
        return frozenset(found)

    async def volume(self, workspace: WorkspaceId) -> int:
        counted = (
            select(func.sum(parts.c.passages))
            .join(jobs, jobs.c.id == parts.c.job)
            .where(jobs.c.workspace == workspace)
        )
        return int(await self._connection.value(counted) or 0)

    async def rebuilds(self, workspace: WorkspaceId) -> Sequence[Rebuild]:
        rows = await self._connection.rows(
            select(rebuilds).where(rebuilds.c.workspace == workspace).order_by(rebuilds.c.store)
        )
        return [
            Rebuild(
                workspace=WorkspaceId(row.workspace),
                store=DerivedStore(row.store),
                job=None if row.job is None else JobId(row.job),
                followed_seq=row.followed_seq,
                lost=row.lost,
            )
            for row in rows
        ]

    async def begin(self, rebuild: Rebuild) -> None:
        await self._connection.put(
            rebuilds,
            {
                "workspace": rebuild.workspace,
                "store": rebuild.store.value,
                "job": rebuild.job,
                "followed_seq": rebuild.followed_seq,
                "lost": rebuild.lost,
            },
        )

    async def advance(self, lease: ApplyLease, rebuild: Rebuild) -> bool:
        await assert_lease(self._connection, lease)
        key = {"workspace": rebuild.workspace, "store": rebuild.store.value, "job": rebuild.job}
        columns = {"followed_seq": rebuild.followed_seq, "lost": rebuild.lost}
        matched = (rebuilds.c[name] == value for name, value in key.items())
        return await self._connection.run(update(rebuilds).where(*matched).values(columns)) > 0

    async def end(self, workspace: WorkspaceId, store: DerivedStore) -> None:
        await self._connection.run(
            delete(rebuilds).where(rebuilds.c.workspace == workspace, rebuilds.c.store == store.value)
        )

    async def vectors_of(self, part: BlobKey, model: str) -> BlobKey | None:
        blob = await self._connection.value(
            select(part_vectors.c.blob).where(part_vectors.c.part == part, part_vectors.c.model == model)
        )
        return None if blob is None else BlobKey(blob)

    async def keep_vectors(self, part: PartRow, model: str, blob: BlobKey) -> None:
        await self._connection.put(
            part_vectors, {"part": part.blob, "model": model, "job": part.job, "blob": blob}
        )
