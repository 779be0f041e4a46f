"""The graph: passages with their text, memories, entities and the edges between them.

It is authoritative for text and visibility: vectors only nominate. Reads take the caller's `Scope` and see
nothing of other datasets. Writes take the writer's scope and its `Fence`: rows of a higher `seq` are never
replaced, and a lower epoch than the store has seen raises `LeaseLostError` before anything is written.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from dormouse.ids import DocumentId, PassageId, WorkspaceId
from dormouse.model.change import Erasure
from dormouse.model.entity import Entity, Mention, Relation
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.model.scope import Fence, Scope


@dataclass(frozen=True, slots=True)
class GraphRows:
    """Absolute rows of one change. `closed` ends the transaction time of versions that stood before."""

    passages: tuple[Passage, ...] = ()
    entities: tuple[Entity, ...] = ()
    mentions: tuple[Mention, ...] = ()
    versions: tuple[MemoryVersion, ...] = ()
    closed: dict[str, int] = field(default_factory=dict)
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """`passages` are all that have a point in the vectors; `derived` are those of them that a model made."""

    passages: int
    entities: int
    versions: int
    derived: int = 0


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """Which versions to return: valid at `valid_at_ms` (None: any), believed at `known_at_ms`."""

    passages: Collection[PassageId]
    known_at_ms: int
    valid_at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ClaimQuery:
    """What is believed at `known_at_ms` of these (subject, predicate) pairs, the latest acceptances first."""

    of: Collection[tuple[str, str]]
    known_at_ms: int
    limit: int = 1000


class GraphStore(Protocol):
    async def write(self, scope: Scope, fence: Fence, rows: GraphRows) -> None:
        """Upsert all rows and the marker `fence.seq` in one transaction; repeating it changes nothing."""
        ...

    async def erase(self, scope: Scope, fence: Fence, what: Erasure, *, is_forgetting: bool = True) -> None:
        """Remove passages, their versions, mentions and relations, and entities that nothing mentions any more.

        From the files too, or (not `is_forgetting`) with the next cleaning of the files.
        """
        ...

    async def adopt(self, workspace: WorkspaceId, epoch: int) -> None:
        """Store the epoch of a new lease holder; from then on lower ones are refused."""
        ...

    async def passages(self, scope: Scope, ids: Collection[PassageId]) -> Sequence[Passage]:
        """Those of `ids` that are in readable datasets, in no particular order."""
        ...

    async def passages_of(
        self, scope: Scope, document: DocumentId, *, after_order: int = -1, limit: int = 200
    ) -> Sequence[Passage]:
        """A document's own passages by `order`, a page at a time; none that a model derived."""
        ...

    async def matching(self, scope: Scope, what: Erasure, *, limit: int) -> Sequence[Passage]:
        """Up to `limit` passages that an erasure would remove, by id: for term counts and read-back."""
        ...

    async def memories(self, scope: Scope, query: MemoryQuery | ClaimQuery) -> Sequence[MemoryVersion]: ...

    async def entities_in(
        self, scope: Scope, passages: Collection[PassageId]
    ) -> Sequence[tuple[Entity, PassageId]]:
        """Whom and what these passages mention, by entity and then passage."""
        ...

    async def count(self, scope: Scope, what: Erasure | None = None) -> GraphCounts:
        """Of everything readable, or of what an erasure would remove."""
        ...

    async def close(self) -> None: ...


class GraphRenewal(Protocol):
    """The care of a graph that is lost or damaged: made anew, and refused to readers until it is whole."""

    async def renew(self) -> None:
        """Empty, as on the first day; from now on reads fail as being rebuilt, and writes go on."""
        ...

    async def complete(self) -> None:
        """Everything is in it again: reads are answered."""
        ...
