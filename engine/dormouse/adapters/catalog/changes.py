"""The ordered change log: numbered after everything committed, applied once. Source: writes §2 and §3."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Row, bindparam, case, null, select, update

from dormouse.adapters.catalog.connection import CatalogConnection
from dormouse.adapters.catalog.tables import change_counters, changes
from dormouse.adapters.catalog.workspaces import assert_lease
from dormouse.errors import ConflictError, NotFoundError
from dormouse.ids import BlobKey, DatasetId, DocumentId, JobId, WorkspaceId
from dormouse.model.change import ApplyLease, Change, ChangeKind

_HIDINGS = [kind.value for kind in ChangeKind if kind.is_hiding]

# Statements that are run for every write are built once: building one costs more than running it.
_COUNTER = (
    select(change_counters.c.last_seq)
    .where(change_counters.c.workspace == bindparam("workspace"))
    .with_for_update()
)
_NEXT = (
    select(changes)
    .where(changes.c.workspace == bindparam("workspace"), changes.c.applied_ms.is_(None))
    .order_by(changes.c.seq)
    .limit(1)
)
_KNOWN = select(changes.c.seq).where(
    changes.c.job == bindparam("job"), changes.c.kind == bindparam("kind"), changes.c.part == bindparam("part")
)


class SqlChangeLog:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def append(self, change: Change) -> Change | None:
        await self.lock(change.workspace)
        named = {"job": change.job, "kind": change.kind.value, "part": change.part}
        known = await self._connection.value(_KNOWN, named)
        if known is not None:
            return None
        seq = await self._next_seq(change.workspace)
        numbered = replace(change, seq=seq)
        await self._connection.insert(changes, {"workspace": change.workspace, "seq": seq, **_columns(change)})
        return numbered

    async def lock(self, workspace: WorkspaceId) -> None:
        counter = {"workspace": workspace}
        if await self._connection.row(_COUNTER, counter) is None:
            await self._connection.insert_if_absent(change_counters, {**counter, "last_seq": 0})
            await self._connection.row(_COUNTER, counter)

    async def next_unapplied(self, workspace: WorkspaceId) -> Change | None:
        row = await self._connection.row(_NEXT, {"workspace": workspace})
        return None if row is None else change_of(row)

    async def unapplied_of(self, job: JobId) -> Sequence[Change]:
        rows = await self._connection.rows(
            select(changes).where(changes.c.job == job, changes.c.applied_ms.is_(None)).order_by(changes.c.seq)
        )
        return [change_of(row) for row in rows]

    async def name_change_set(self, lease: ApplyLease, seq: int, blob: BlobKey) -> None:
        named = await self._set(lease, seq, {"change_set": blob}, changes.c.change_set.is_(None))
        if not named:
            raise ConflictError("this change has its change set already")

    async def mark_applied(self, lease: ApplyLease, seq: int) -> bool:
        return bool(
            await self._set(lease, seq, {"applied_ms": self._connection.now_ms}, changes.c.applied_ms.is_(None))
        )

    async def abandon(self, lease: ApplyLease, seq: int) -> None:
        columns: dict[str, object] = {"applied_ms": self._connection.now_ms, "change_set": None}
        await self._set(lease, seq, columns, changes.c.applied_ms.is_(None))

    async def count_attempt(self, lease: ApplyLease, seq: int) -> int:
        await self._set(lease, seq, {"attempts": changes.c.attempts + 1})
        attempts = await self._connection.value(
            select(changes.c.attempts).where(changes.c.workspace == lease.workspace, changes.c.seq == seq)
        )
        if attempts is None:
            raise NotFoundError("no such change")
        return int(attempts)

    async def move_to_end(self, lease: ApplyLease, seq: int) -> Change:
        await self.lock(lease.workspace)
        moved = await self._next_seq(lease.workspace)
        columns: dict[str, object] = {"seq": moved, "attempts": 0}
        columns["change_set"] = case((changes.c.kind.in_(_HIDINGS), null()), else_=changes.c.change_set)
        if not await self._set(lease, seq, columns, changes.c.applied_ms.is_(None)):
            raise NotFoundError("no such change waits")
        row = await self._connection.row(
            select(changes).where(changes.c.workspace == lease.workspace, changes.c.seq == moved)
        )
        assert row is not None
        return change_of(row)

    async def waiting_forgets(self, workspace: WorkspaceId, after_seq: int, limit: int) -> Sequence[Change]:
        forgets = (ChangeKind.ERASE_DOCUMENT, ChangeKind.ERASE_DATASET, ChangeKind.ERASE_MEMORY)
        rows = await self._connection.rows(
            select(changes)
            .where(
                changes.c.workspace == workspace,
                changes.c.applied_ms.is_(None),
                changes.c.seq > after_seq,
                changes.c.kind.in_([kind.value for kind in forgets]),
            )
            .order_by(changes.c.seq)
            .limit(limit)
        )
        return [change_of(row) for row in rows]

    async def _next_seq(self, workspace: WorkspaceId) -> int:
        counter = change_counters.c.workspace == workspace
        await self._connection.run(
            update(change_counters).where(counter).values(last_seq=change_counters.c.last_seq + 1)
        )
        return int(await self._connection.value(select(change_counters.c.last_seq).where(counter)))

    async def _set(
        self, lease: ApplyLease, seq: int, columns: dict[str, object], *conditions: ColumnElement[bool]
    ) -> int:
        await assert_lease(self._connection, lease)
        return await self._connection.run(
            update(changes)
            .where(changes.c.workspace == lease.workspace, changes.c.seq == seq, *conditions)
            .values(columns)
        )


def change_of(row: Row[*tuple[Any, ...]]) -> Change:
    """The change in a row that has all its columns."""
    return Change(
        workspace=WorkspaceId(row.workspace),
        seq=row.seq,
        job=JobId(row.job),
        part=row.part,
        kind=ChangeKind(row.kind),
        dataset=DatasetId(row.dataset),
        document=None if row.document is None else DocumentId(row.document),
        generation=row.generation,
        revision=row.revision,
        blob=None if row.blob is None else BlobKey(row.blob),
        change_set=None if row.change_set is None else BlobKey(row.change_set),
        attempts=row.attempts,
        is_last_part=bool(row.is_last_part),
    )


def _columns(change: Change) -> dict[str, object]:
    return {
        "job": change.job,
        "part": change.part,
        "kind": change.kind.value,
        "dataset": change.dataset,
        "document": change.document,
        "generation": change.generation,
        "revision": change.revision,
        "blob": change.blob,
        "change_set": change.change_set,
        "attempts": change.attempts,
        "is_last_part": int(change.is_last_part),
    }
