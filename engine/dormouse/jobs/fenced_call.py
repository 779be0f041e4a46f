"""One call to a store under the apply lease: checked right before it is sent, and never waited for long.

A call that outlived its patience may still reach the store. Its lease is not released then, so that the
successor takes the careful way. Source: writes §3.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from dormouse.errors import Port, StoreUnavailableError
from dormouse.ids import WorkspaceId
from dormouse.model.change import ApplyLease
from dormouse.model.scope import Fence
from dormouse.ports.catalog.transaction import Catalog


@dataclass(frozen=True, slots=True)
class Patience:
    """In seconds. `takeover_s` is how long calls of an unreleased predecessor may still be under way: 0
    where it is proven dead, as by the lock on a data folder."""

    call_s: float = 10.0
    erase_s: float = 10.0
    takeover_s: float = 15.0


class FencedCalls:
    def __init__(self, catalog: Catalog, patience: Patience) -> None:
        self._catalog = catalog
        self._patience = patience
        self._overdue: set[WorkspaceId] = set()

    async def write(self, lease: ApplyLease, port: Port, call: Callable[[], Awaitable[object]]) -> None:
        """Raises `LeaseLostError` before sending, or `StoreUnavailableError` when the patience ends."""
        await self._send(lease, port, call, self._patience.call_s)

    async def erase(self, lease: ApplyLease, port: Port, call: Callable[[], Awaitable[object]]) -> None:
        """As `write`; erasing also cleans files and may be given longer."""
        await self._send(lease, port, call, self._patience.erase_s)

    def is_overdue(self, workspace: WorkspaceId) -> bool:
        """Whether a call of ours that nobody waited for may still be under way."""
        return workspace in self._overdue

    def forgive(self, workspace: WorkspaceId) -> None:
        """Whatever was under way has been outwaited and repaired."""
        self._overdue.discard(workspace)

    async def _send(
        self, lease: ApplyLease, port: Port, call: Callable[[], Awaitable[object]], budget_s: float
    ) -> None:
        await self._catalog.read(lambda tx: tx.workspaces.assert_lease(lease))
        try:
            async with asyncio.timeout(budget_s):
                await call()
        except TimeoutError as exc:
            self._overdue.add(lease.workspace)
            raise StoreUnavailableError(port=port) from exc


def fence_of(lease: ApplyLease, seq: int) -> Fence:
    return Fence(lease.workspace, lease.epoch, seq)
