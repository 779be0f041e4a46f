"""The graph as those see it who look after it: every row, a page at a time, in one order.

Nothing here answers a recall. Reads take the caller's `Scope` like those of `GraphStore`; what is suppressed
is among them.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

from dormouse.ids import DocumentId, EntityId, PassageId
from dormouse.model.entity import Entity, Mention, Relation
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.model.scope import Fence, Scope


class GraphUpkeep(Protocol):
    """Pages begin behind `after`, which is the last row seen; None begins with the first."""

    async def passages_after(self, scope: Scope, after: PassageId | None, limit: int) -> Sequence[Passage]:
        """By id."""
        ...

    async def versions_of(
        self, scope: Scope, document: DocumentId, after: MemoryVersion | None, limit: int
    ) -> Sequence[MemoryVersion]:
        """Of one document by memory, then id; those believed no longer too."""
        ...

    async def entities_after(self, scope: Scope, after: EntityId | None, limit: int) -> Sequence[Entity]:
        """By id."""
        ...

    async def mentions_after(self, scope: Scope, after: Mention | None, limit: int) -> Sequence[Mention]:
        """By entity, then passage; both must be readable."""
        ...

    async def relations_after(self, scope: Scope, after: Relation | None, limit: int) -> Sequence[Relation]:
        """By source, name, target and passage; all must be readable."""
        ...

    async def relations_in(self, scope: Scope, passages: Collection[PassageId]) -> Sequence[Relation]:
        """Those that these passages hold, each pair under one name once."""
        ...

    async def strays(self, scope: Scope) -> int:
        """Versions, entities, mentions and relations of readable datasets that hang on nothing."""
        ...

    async def drop(self, scope: Scope, fence: Fence, ids: Collection[PassageId]) -> None:
        """Remove single passages that nothing knows of, what hangs on them, and all strays; from the file too.

        Only a repair may do so.
        """
        ...
