"""Bells where one process does everything: those that ring and those that hear share it."""

from collections.abc import AsyncIterator

from dormouse import telemetry
from dormouse.adapters.message_bus.local_bells import LocalBells
from dormouse.ids import JobId, WorkspaceId
from dormouse.ports.catalog.transaction import Catalog


class SqlQueueBus:
    def __init__(self, catalog: Catalog) -> None:
        self._bells = LocalBells(catalog)

    async def ring_ingest(self, workspace: WorkspaceId, job: JobId) -> None:
        """Never waits, so that accepting never does."""
        with telemetry.send("dormouse.ingest", workspace=workspace, job=job):
            self._bells.ring_ingest()

    async def ring_apply(self, workspace: WorkspaceId) -> None:
        self._bells.ring_apply(workspace)

    def ingest_bells(self, *, most_bytes: int | None = None) -> AsyncIterator[tuple[WorkspaceId, JobId]]:
        return self._bells.ingest_bells(most_bytes)

    def apply_bells(self) -> AsyncIterator[WorkspaceId]:
        return self._bells.apply_bells()

    def is_alive(self) -> bool:
        return True

    async def close(self) -> None:
        self._bells.close()
