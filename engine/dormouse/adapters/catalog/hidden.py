"""What is suppressed: accepted at once, followed by the stores in the order of changes."""

from collections.abc import Collection, Mapping

from sqlalchemy import delete, select

from dormouse.adapters.catalog.connection import CatalogConnection, in_batches
from dormouse.adapters.catalog.tables import hidden
from dormouse.ids import DatasetId, DocumentId, WorkspaceId
from dormouse.ports.catalog.hidden import Hiding

SUPPRESSED = "suppressed"


class SqlHiddenBook:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def hide(self, workspace: WorkspaceId, dataset: DatasetId, document: DocumentId) -> bool:
        before = await self.of(document)
        await self._connection.put(
            hidden,
            {
                "target": document,
                "workspace": workspace,
                "dataset": dataset,
                "document": document,
                "reason": SUPPRESSED,
                "hidden_ms": self._connection.now_ms,
                "is_active": 1,
                "is_applied": int(before.is_applied),
            },
        )
        return not before.is_active

    async def show(self, document: DocumentId) -> bool:
        before = await self.of(document)
        await self._connection.update(hidden, {"target": document}, {"is_active": 0})
        await self._forget_settled(document)
        return before.is_active

    async def of(self, document: DocumentId) -> Hiding:
        return (await self.many([document])).get(document, Hiding())

    async def many(self, documents: Collection[DocumentId]) -> Mapping[DocumentId, Hiding]:
        found: dict[DocumentId, Hiding] = {}
        for batch in in_batches(documents):
            rows = await self._connection.rows(select(hidden).where(hidden.c.target.in_(batch)))
            found.update(
                {DocumentId(row.target): Hiding(bool(row.is_active), bool(row.is_applied)) for row in rows}
            )
        return found

    async def settle(self, document: DocumentId, *, is_applied: bool) -> None:
        await self._connection.update(hidden, {"target": document}, {"is_applied": int(is_applied)})
        await self._forget_settled(document)

    async def _forget_settled(self, document: DocumentId) -> None:
        await self._connection.run(
            delete(hidden).where(hidden.c.target == document, hidden.c.is_active == 0, hidden.c.is_applied == 0)
        )
