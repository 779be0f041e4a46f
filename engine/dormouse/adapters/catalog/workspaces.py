"""Workspaces, and the apply lease under which each one's changes are applied. Source: writes §3."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, and_, exists, or_, select, update

from dormouse.adapters.catalog.connection import CatalogConnection
from dormouse.adapters.catalog.tables import apply_leases, changes, rebuilds, workspaces
from dormouse.errors import LeaseLostError, NotFoundError
from dormouse.ids import WorkspaceId
from dormouse.model.change import ApplyLease
from dormouse.model.workspace import Collection, Workspace


class SqlWorkspaceRegister:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def ensure(self, workspace: WorkspaceId, name: str) -> Workspace:
        await self._connection.insert_if_absent(
            workspaces,
            {"id": workspace, "name": name, "not_before_ms": 0, "created_ms": self._connection.now_ms},
        )
        return await self.get(workspace)

    async def get(self, workspace: WorkspaceId) -> Workspace:
        row = await self._connection.row(select(workspaces).where(workspaces.c.id == workspace))
        if row is None:
            raise NotFoundError("no such workspace")
        return _workspace(row)

    async def activate(self, workspace: WorkspaceId, collection: Collection) -> None:
        await self._set(
            workspace,
            collection_name=collection.name,
            collection_model=collection.model,
            collection_dimension=collection.dimension,
        )
        await self.build(workspace, None)

    async def build(self, workspace: WorkspaceId, collection: Collection | None) -> None:
        await self._set(
            workspace,
            building_name=collection.name if collection else None,
            building_model=collection.model if collection else None,
            building_dimension=collection.dimension if collection else None,
        )

    async def park(self, workspace: WorkspaceId, not_before_ms: int, reason: str | None) -> None:
        await self._set(
            workspace, not_before_ms=not_before_ms if reason is not None else 0, parked_reason=reason
        )

    async def acquire_lease(self, workspace: WorkspaceId, holder: str, duration_ms: int) -> ApplyLease | None:
        now_ms = self._connection.now_ms
        expires_ms = now_ms + duration_ms
        columns = {"workspace": workspace, "holder": holder, "expires_ms": expires_ms, "is_released": 0}
        row = await self._lease_row(workspace)
        if row is None:
            if await self._connection.insert_if_absent(apply_leases, {**columns, "epoch": 1}):
                return ApplyLease(workspace, holder, 1, expires_ms, was_released=True)
            row = await self._lease_row(workspace)  # another was quicker, and has committed by now
            assert row is not None
        is_running = not row.is_released and row.expires_ms > now_ms
        if is_running and row.holder != holder:
            return None
        epoch = row.epoch + 1
        await self._connection.put(apply_leases, {**columns, "epoch": epoch})
        # A holder that asks again while its lease runs knows about its own calls.
        return ApplyLease(workspace, holder, epoch, expires_ms, bool(row.is_released) or is_running)

    async def renew_lease(self, lease: ApplyLease, duration_ms: int) -> ApplyLease:
        expires_ms = self._connection.now_ms + duration_ms
        if not await self._connection.run(_held(lease).values(expires_ms=expires_ms)):
            raise LeaseLostError("a successor applies this workspace's changes")
        return ApplyLease(lease.workspace, lease.holder, lease.epoch, expires_ms, lease.was_released)

    async def assert_lease(self, lease: ApplyLease) -> None:
        await assert_lease(self._connection, lease)

    async def release_lease(self, lease: ApplyLease) -> None:
        await self._connection.run(_held(lease).values(is_released=1))

    async def with_due_changes(self) -> Sequence[WorkspaceId]:
        waiting = exists().where(changes.c.workspace == workspaces.c.id, changes.c.applied_ms.is_(None))
        is_due = and_(workspaces.c.not_before_ms <= self._connection.now_ms, waiting)
        is_rebuilt = exists().where(rebuilds.c.workspace == workspaces.c.id)
        rows = await self._connection.rows(
            select(workspaces.c.id).where(or_(is_due, is_rebuilt)).order_by(workspaces.c.id)
        )
        return [WorkspaceId(row.id) for row in rows]

    async def _lease_row(self, workspace: WorkspaceId) -> Row[*tuple[Any, ...]] | None:
        return await self._connection.row(
            select(apply_leases).where(apply_leases.c.workspace == workspace).with_for_update()
        )

    async def _set(self, workspace: WorkspaceId, **columns: object) -> None:
        if not await self._connection.update(workspaces, {"id": workspace}, columns):
            raise NotFoundError("no such workspace")


async def assert_lease(connection: CatalogConnection, lease: ApplyLease) -> None:
    """Raises `LeaseLostError` unless this epoch holds an unexpired lease; a writer keeps it so."""
    held = select(apply_leases.c.epoch).where(
        apply_leases.c.workspace == lease.workspace,
        apply_leases.c.epoch == lease.epoch,
        apply_leases.c.is_released == 0,
        apply_leases.c.expires_ms > connection.now_ms,
    )
    # A reader may lock nothing.
    if await connection.value(held.with_for_update() if connection.may_write else held) is None:
        raise LeaseLostError("a successor may apply this workspace's changes")


def _held(lease: ApplyLease) -> Any:  # noqa: ANN401  an UPDATE still without its values
    return update(apply_leases).where(
        apply_leases.c.workspace == lease.workspace,
        apply_leases.c.epoch == lease.epoch,
        apply_leases.c.is_released == 0,
    )


def _workspace(row: Row[*tuple[Any, ...]]) -> Workspace:
    return Workspace(
        id=WorkspaceId(row.id),
        name=row.name,
        collection=_collection(row.collection_name, row.collection_model, row.collection_dimension),
        building=_collection(row.building_name, row.building_model, row.building_dimension),
        not_before_ms=row.not_before_ms,
        parked_reason=row.parked_reason,
        created_ms=row.created_ms,
    )


def _collection(name: str | None, model: str, dimension: int) -> Collection | None:
    return None if name is None else Collection(name, model, dimension)
