"""The vectors as those see them who look after them: whole points, and hiding without removing.

A hidden point takes part in no search, count of terms or tie until it is shown again, unchanged.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from dormouse.ids import DatasetId, DocumentId, PassageId
from dormouse.model.change import Erasure
from dormouse.model.passage import Point
from dormouse.model.scope import Fence, Scope


@dataclass(frozen=True, slots=True)
class PointMark:
    """Where a point says it belongs, without its vectors."""

    passage: PassageId
    dataset: DatasetId
    document: DocumentId
    dataset_generation: int
    first_revision: int
    last_revision: int
    is_hidden: bool


class VectorUpkeep(Protocol):
    """Reads see hidden points too, always of readable datasets only."""

    async def points(self, scope: Scope, ids: Collection[PassageId]) -> Sequence[Point]:
        """Those of `ids` that are there, with their vectors as the store holds them; by id."""
        ...

    async def marks_after(
        self, scope: Scope, after: PassageId | None, limit: int, *, document: DocumentId | None = None
    ) -> Sequence[PointMark]:
        """A page by id, behind `after`; None begins with the first. Of one document, or of all."""
        ...

    async def hide(self, scope: Scope, fence: Fence, what: Erasure, *, is_hidden: bool) -> None:
        """Hide or show what an erasure would remove; durable on return, and nothing else of it changes."""
        ...

    async def drop(self, scope: Scope, fence: Fence, ids: Collection[PassageId]) -> None:
        """Remove single points that nothing knows of, from queries and files: only a repair may do so."""
        ...
