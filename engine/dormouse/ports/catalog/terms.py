"""Catalog concern: term statistics, for query weights that no foreign dataset can move."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from dormouse.ids import DatasetId, TermId, WorkspaceId


@dataclass(frozen=True, slots=True)
class TermCounts:
    """Over the readable datasets asked about: passages in all, and passages with each term."""

    passages: int
    frequencies: Mapping[TermId, int]


class TermStatistics(Protocol):
    """Document frequencies per dataset and generation, by term id: no words are kept.

    Only the apply writer changes them, with what its change set says, in the transaction that marks the
    change applied.
    """

    async def add(
        self, dataset: DatasetId, generation: int, passages: int, deltas: Mapping[TermId, int]
    ) -> None:
        """Deltas may be negative; rows that reach zero go."""
        ...

    async def drop_below(self, dataset: DatasetId, generation: int) -> None: ...

    async def replace(
        self, workspace: WorkspaceId, counted: Mapping[tuple[DatasetId, int], TermCounts]
    ) -> None:
        """All that is counted in the workspace, by dataset and generation, instead of what was."""
        ...

    async def counts(self, datasets: Collection[DatasetId], terms: Collection[TermId]) -> TermCounts:
        """Of each dataset's current generation."""
        ...

    async def page(self, dataset: DatasetId, after: TermId | None, limit: int) -> Sequence[tuple[TermId, int]]:
        """Frequencies of the current generation by term id, behind `after`."""
        ...
