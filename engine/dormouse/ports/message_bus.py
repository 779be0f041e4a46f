"""Bells: they say that there is work, never what it is. Losing one costs time, not work.

The catalog's rows are the outbox; the sweeper rings again what nobody answered.
"""

from collections.abc import AsyncIterator
from typing import Protocol

from dormouse.ids import JobId, WorkspaceId


class MessageBus(Protocol):
    async def ring_ingest(self, workspace: WorkspaceId, job: JobId) -> None:
        """A job waits for extraction."""
        ...

    async def ring_apply(self, workspace: WorkspaceId) -> None:
        """A workspace has changes to apply."""
        ...

    def ingest_bells(self, *, most_bytes: int | None = None) -> AsyncIterator[tuple[WorkspaceId, JobId]]:
        """One iterator may be listened to by one task at a time.

        With `most_bytes`, only for jobs whose content is not longer, so that somebody stays free for them.
        """
        ...

    def apply_bells(self) -> AsyncIterator[WorkspaceId]: ...

    def is_alive(self) -> bool:
        """Whether this process goes on hearing what it listens to. A broker that is away does not count."""
        ...

    async def close(self) -> None: ...
