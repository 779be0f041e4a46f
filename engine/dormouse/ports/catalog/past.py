"""Catalog concern: what the change log tells of the past, for audits and repairs."""

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
