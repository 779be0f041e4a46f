"""Bells to workspaces: each is applied by one task of this process, under its lease, until nothing waits.

Source: writes §3.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import structlog

from dormouse import telemetry
from dormouse.apply.steps import Steps
from dormouse.apply.takeover import Takeover
from dormouse.errors import LeaseLostError, UnavailableError
from dormouse.ids import WorkspaceId
from dormouse.jobs.busy import Busy, until_cancelled
from dormouse.jobs.lease import LEASE_MS, held
from dormouse.model.change import ApplyLease, Change
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.ports.message_bus import MessageBus

log = structlog.get_logger()


class BackfillTurn(Protocol):
    @property
    def worked(self) -> bool: ...

    @property
    def holds_changes(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Duties:
    """What the holder of a lease does. `backfill` takes one step of making a store anew, if one is: between two
    changes, so that every store has one writer."""

    takeover: Takeover
    steps: Steps
    backfill: Callable[[ApplyLease], Awaitable[BackfillTurn]]


class Applier:
    """Applies `slots` workspaces at once; `holder` names this process in leases."""

    def __init__(
        self,
        catalog: Catalog,
        bus: MessageBus,
        duties: Duties,
        *,
        holder: str,
        slots: int = 2,
    ) -> None:
        self._catalog = catalog
        self._bus = bus
        self._takeover, self._steps, self._backfill = duties.takeover, duties.steps, duties.backfill
        self._holder = holder
        self._slots = slots
        self._busy = Busy()
        self._turn = asyncio.Lock()
        self._active: set[WorkspaceId] = set()
        self._rung: set[WorkspaceId] = set()

    async def run(self) -> None:
        """Until cancelled; then changes at work are finished and their leases released."""
        self._busy = Busy()  # a run before this one may have been drained
        bells = self._bus.apply_bells()
        async with asyncio.TaskGroup() as group:
            for number in range(self._slots):
                group.create_task(self._take_turns(bells), name=f"apply-{number}")
            await until_cancelled(self._busy)

    async def apply(self, workspace: WorkspaceId) -> None:
        """Apply what waits, as far as it goes now; a bell during that makes it look once more."""
        self._rung.add(workspace)
        if workspace in self._active:
            return
        self._active.add(workspace)
        try:
            while workspace in self._rung and not self._busy.is_draining:
                self._rung.discard(workspace)
                await self._apply_leased(workspace)
        finally:
            self._active.discard(workspace)

    async def _take_turns(self, bells: AsyncIterator[WorkspaceId]) -> None:
        while not self._busy.is_draining:
            async with self._turn:
                workspace = await anext(bells)
            with self._busy.working():
                await self.apply(workspace)

    async def _apply_leased(self, workspace: WorkspaceId) -> None:
        try:
            lease = await self._acquire(workspace)
            if lease is None:
                return
            with telemetry.process("dormouse.apply", workspace=workspace):
                async with held(lambda: self._renew(lease)):
                    await self._drain(lease)
            await self._release(lease)
        except LeaseLostError:
            log.warning("apply_lease_lost", workspace=workspace)
        except UnavailableError as exc:
            # Not even parking worked: the lease runs out, and the sweeper rings again.
            log.warning("apply_interrupted", workspace=workspace, code=exc.code)

    async def _acquire(self, workspace: WorkspaceId) -> ApplyLease | None:
        """None while the workspace is parked, has nothing to do, or another process applies it."""
        return await self._catalog.write(lambda tx: _acquired(tx, workspace, self._holder))

    async def _renew(self, lease: ApplyLease) -> None:
        async def renewed(tx: CatalogTransaction) -> None:
            await tx.workspaces.renew_lease(lease, LEASE_MS)
            await tx.commit()

        await self._catalog.write(renewed)

    async def _drain(self, lease: ApplyLease) -> None:
        if self._takeover.is_needed(lease):
            await self._takeover.take(lease)
        while not self._busy.is_draining:
            turn = await self._backfill(lease)
            change = None if turn.holds_changes else await self._next(lease.workspace)
            has_applied = change is not None and await self._steps.take(lease, change)
            if not has_applied and not turn.worked:
                return

    async def _next(self, workspace: WorkspaceId) -> Change | None:
        """None too while the workspace waits for something."""
        return await self._catalog.read(lambda tx: _waiting(tx, workspace))

    async def _release(self, lease: ApplyLease) -> None:
        if not self._takeover.may_release(lease):
            return
        if await self._catalog.write(lambda tx: _released(tx, lease)) is not None:
            # It came after the last look, and its bell found the lease taken.
            self._rung.add(lease.workspace)


async def _acquired(tx: CatalogTransaction, workspace: WorkspaceId, holder: str) -> ApplyLease | None:
    row = await tx.workspaces.get(workspace)
    is_parked = row.not_before_ms > tx.now_ms
    is_idle = is_parked or await tx.changes.next_unapplied(workspace) is None
    if is_idle and not await tx.history.rebuilds(workspace):
        return None
    lease = await tx.workspaces.acquire_lease(workspace, holder, LEASE_MS)
    if lease is not None and row.parked_reason is not None and not is_parked:
        await tx.workspaces.park(workspace, 0, None)
    await tx.commit()
    return lease


async def _waiting(tx: CatalogTransaction, workspace: WorkspaceId) -> Change | None:
    if (await tx.workspaces.get(workspace)).not_before_ms > tx.now_ms:
        return None
    return await tx.changes.next_unapplied(workspace)


async def _released(tx: CatalogTransaction, lease: ApplyLease) -> Change | None:
    """What may be applied by now, if anything."""
    await tx.workspaces.release_lease(lease)
    change = await _waiting(tx, lease.workspace)
    await tx.commit()
    return change
