"""Catalog concern: the ordered change log. Source: writes §2 and §3."""

from collections.abc import Sequence
from typing import Protocol

from dormouse.ids import BlobKey, JobId, WorkspaceId
from dormouse.model.change import ApplyLease, Change


class ChangeLog(Protocol):
    """The numbered changes of each workspace and which of them are applied."""

    async def append(self, change: Change) -> Change | None:
        """Number it (its `seq` is ignored) after all committed ones; None if (job, kind, part) exists.

        The workspace's counter row is locked first: call before reading the generations it depends on.
        """
        ...

    async def lock(self, workspace: WorkspaceId) -> None:
        """Lock the counter row, for a transaction that reads generations before it appends."""
        ...

    async def next_unapplied(self, workspace: WorkspaceId) -> Change | None:
        """The lowest `seq` not yet applied."""
        ...

    async def unapplied_of(self, job: JobId) -> Sequence[Change]: ...

    async def name_change_set(self, lease: ApplyLease, seq: int, blob: BlobKey) -> None:
        """Once, with the epoch asserted."""
        ...

    async def mark_applied(self, lease: ApplyLease, seq: int) -> bool:
        """With the epoch asserted; False if it already was."""
        ...

    async def abandon(self, lease: ApplyLease, seq: int) -> None:
        """Mark it applied as one that did nothing: its change set is forgotten, and no rebuild follows it."""
        ...

    async def count_attempt(self, lease: ApplyLease, seq: int) -> int:
        """Returns the attempts so far, this one included."""
        ...

    async def move_to_end(self, lease: ApplyLease, seq: int) -> Change:
        """Give an unapplied change a new `seq` and no attempts: a failing forget lets others pass.

        What hides is decided anew in its new place: others may have come before it.
        """
        ...

    async def waiting_forgets(self, workspace: WorkspaceId, after_seq: int, limit: int) -> Sequence[Change]:
        """Unapplied erasures of documents, their memories and datasets behind `after_seq`, in order."""
        ...
