"""Taking over from a holder that never released the lease: its last calls may still reach the stores.

The graph refuses them once it knows the new epoch. The vector store knows no epochs, so what was erased
lately is erased again, and what was hidden or shown is hidden or shown again, in case a late upsert undid it.
Source: writes §3.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from dormouse.jobs.fenced_call import FencedCalls, Patience
from dormouse.model.change import ApplyLease, Change
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.graph_store import GraphStore

REPEATED_MS = 24 * 3600 * 1000

log = structlog.get_logger()

Again = Callable[[ApplyLease, Change], Awaitable[None]]


class Takeover:
    def __init__(
        self,
        catalog: Catalog,
        graph: GraphStore,
        calls: FencedCalls,
        patience: Patience,
        again: Again,
    ) -> None:
        self._catalog = catalog
        self._graph = graph
        self._calls = calls
        self._patience = patience
        self._again = again

    def is_needed(self, lease: ApplyLease) -> bool:
        """Also after a call of our own that outlived our patience."""
        return not lease.was_released or self._calls.is_overdue(lease.workspace)

    def may_release(self, lease: ApplyLease) -> bool:
        """Not while a call may still be under way: the lease runs out then, and the successor is careful."""
        return not self._calls.is_overdue(lease.workspace)

    async def take(self, lease: ApplyLease) -> None:
        """Raises `LeaseLostError` and `UnavailableError`; the lease is not to be released then."""
        log.info("apply_taken_over", workspace=lease.workspace, epoch=lease.epoch)
        await self._calls.write(lease, "graph", lambda: self._graph.adopt(lease.workspace, lease.epoch))
        await asyncio.sleep(self._patience.takeover_s)
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(lease.workspace)
            change = await tx.changes.next_unapplied(lease.workspace)
            # While a store is made anew, the change was not what its holder died of.
            if change is not None and not await tx.history.rebuilds(lease.workspace):
                await tx.changes.count_attempt(lease, change.seq)
            erased = await tx.past.recent_erasures(lease.workspace, tx.now_ms - REPEATED_MS)
            await tx.commit()
        for each in erased:
            await self._again(lease, each)
        self._calls.forgive(lease.workspace)
