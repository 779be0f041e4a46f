"""What the change log tells of the past."""

from collections.abc import Sequence

from sqlalchemy import func, select

from dormouse.adapters.catalog.changes import change_of
from dormouse.adapters.catalog.connection import CatalogConnection
from dormouse.adapters.catalog.tables import change_counters, changes
from dormouse.ids import DatasetId, DocumentId, WorkspaceId
from dormouse.model.change import Change, ChangeKind
from dormouse.ports.catalog.past import LogStanding

_TAKING_AWAY = [kind.value for kind in ChangeKind if kind.is_erasure or kind.is_hiding]


class SqlLogPast:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def standing(self, dataset: DatasetId) -> LogStanding:
        row = await self._connection.row(
            select(
                func.max(changes.c.seq).filter(changes.c.applied_ms.is_not(None)).label("highest"),
                func.count().filter(changes.c.applied_ms.is_(None)).label("unapplied"),
            ).where(changes.c.dataset == dataset)
        )
        assert row is not None
        return LogStanding(int(row.highest or 0), int(row.unapplied))

    async def applied_to(self, document: DocumentId) -> Sequence[Change]:
        rows = await self._connection.rows(
            select(changes)
            .where(
                changes.c.document == document,
                changes.c.applied_ms.is_not(None),
                changes.c.change_set.is_not(None),
            )
            .order_by(changes.c.seq)
        )
        return [change_of(row) for row in rows]

    async def highest(self, workspace: WorkspaceId) -> tuple[int, int]:
        given = await self._connection.value(
            select(change_counters.c.last_seq).where(change_counters.c.workspace == workspace)
        )
        in_log = await self._connection.value(
            select(func.max(changes.c.seq)).where(changes.c.workspace == workspace)
        )
        return int(given or 0), int(in_log or 0)

    async def recent_erasures(self, workspace: WorkspaceId, since_ms: int) -> Sequence[Change]:
        rows = await self._connection.rows(
            select(changes)
            .where(
                changes.c.workspace == workspace,
                changes.c.applied_ms >= since_ms,
                changes.c.kind.in_(_TAKING_AWAY),
            )
            .order_by(changes.c.seq)
        )
        return [change_of(row) for row in rows]

    async def highest_applied(self, workspace: WorkspaceId) -> int:
        seq = await self._connection.value(
            select(changes.c.seq)
            .where(changes.c.workspace == workspace, changes.c.applied_ms.is_not(None))
            .order_by(changes.c.seq.desc())
            .limit(1)
        )
        return int(seq or 0)

    async def unapplied_count(self, workspace: WorkspaceId) -> int:
        return int(
            await self._connection.value(
                select(func.count())
                .select_from(changes)
                .where(changes.c.workspace == workspace, changes.c.applied_ms.is_(None))
            )
        )
