"""Bells inside one process, over the catalog's own rows: ringing only says "look", the rows say at what.

Whoever waits for an ingest bell gets the job whose turn it is by then, small ones first, not the one that
rang. Nothing is kept here that a restart would miss. Source: writes, "Everything below holds on the laptop".
"""

import asyncio
from collections.abc import AsyncIterator, Sequence

from dormouse.errors import UnavailableError
from dormouse.ids import JobId, WorkspaceId
from dormouse.ports.catalog.transaction import Catalog

LOOK_AHEAD = 8  # jobs that were offered and not taken are passed over


class LocalBells:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._ingest: set[asyncio.Event] = set()  # one for each listener
        self._apply = asyncio.Event()
        self._workspaces: dict[WorkspaceId, None] = {}
        self._is_closed = False

    @property
    def unheard(self) -> Sequence[WorkspaceId]:
        """Workspaces that rang and that nobody took yet."""
        return list(self._workspaces)

    def ring_ingest(self) -> None:
        """The rows tell whose turn it is."""
        for bell in self._ingest:
            bell.set()

    def ring_apply(self, workspace: WorkspaceId) -> None:
        self._workspaces[workspace] = None
        self._apply.set()

    async def ingest_bells(self, most_bytes: int | None) -> AsyncIterator[tuple[WorkspaceId, JobId]]:
        """A job that was offered and not taken comes again with the next bell."""
        rung = asyncio.Event()
        rung.set()  # nobody heard what rang before
        self._ingest.add(rung)
        try:
            while not self._is_closed:
                await rung.wait()
                rung.clear()
                offered: set[JobId] = set()
                while (bell := await self._due(offered, most_bytes)) is not None:
                    offered.add(bell[1])
                    yield bell
        finally:
            self._ingest.discard(rung)

    async def apply_bells(self) -> AsyncIterator[WorkspaceId]:
        """Each workspace once, however often it rang meanwhile, in the order of their first bell."""
        while not self._is_closed:
            await self._apply.wait()
            self._apply.clear()
            while self._workspaces:
                workspace = next(iter(self._workspaces))
                del self._workspaces[workspace]
                yield workspace

    def close(self) -> None:
        self._is_closed = True
        self.ring_ingest()
        self._apply.set()

    async def _due(self, offered: set[JobId], most_bytes: int | None) -> tuple[WorkspaceId, JobId] | None:
        """The first job in turn that was not offered since the bell; none while the catalog is away."""
        try:
            asked = len(offered) + LOOK_AHEAD
            due = await self._catalog.read(lambda tx: tx.work.due(asked, most_bytes=most_bytes))
        except UnavailableError:
            return None  # the sweeper rings again
        return next((each for each in due if each[1] not in offered), None)
