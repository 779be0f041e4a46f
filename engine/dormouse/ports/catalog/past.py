"""Catalog concern: what the change log tells without being changed, for audits, repairs and whoever waits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from dormouse.ids import DatasetId, DocumentId, WorkspaceId
from dormouse.model.change import Change


@dataclass(frozen=True, slots=True)
class LogStanding:
    """Of one dataset: two equal ones with nothing `unapplied` mean that its stores did not change between."""

    highest_applied: int
    unapplied: int


class LogPast(Protocol):
    """Read only."""

    async def standing(self, dataset: DatasetId) -> LogStanding: ...

    async def applied_to(self, document: DocumentId) -> Sequence[Change]:
        """Changes of the document that wrote by a change set, by `seq`."""
        ...

    async def highest(self, workspace: WorkspaceId) -> tuple[int, int]:
        """The highest number given, and the highest in the log: the first is never lower."""
        ...

    async def recent_erasures(self, workspace: WorkspaceId, since_ms: int) -> Sequence[Change]:
        """Applied erasures of the last while, and what hid or showed again: repeated after a takeover."""
        ...

    async def highest_applied(self, workspace: WorkspaceId) -> int:
        """The `seq` of the latest applied change; 0 before the first."""
        ...

    async def unapplied_count(self, workspace: WorkspaceId) -> int: ...
