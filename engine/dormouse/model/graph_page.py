"""A part of a dataset's graph: some passages in reading order, with everything that hangs on them."""

from dataclasses import dataclass

from dormouse.ids import DocumentId, PassageId
from dormouse.model.document import Document
from dormouse.model.entity import Entity, Relation
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage

GraphPlace = tuple[DocumentId, int]  # behind this passage (by order) of this document


@dataclass(frozen=True, slots=True)
class GraphPage:
    """`mentions` pairs entities with passages of this page; an entity comes again with every page that mentions
    it. `following` is where the next page begins, None on the last."""

    documents: tuple[Document, ...]
    passages: tuple[Passage, ...]
    mentions: tuple[tuple[Entity, PassageId], ...]
    memories: tuple[MemoryVersion, ...]
    following: GraphPlace | None
    relations: tuple[Relation, ...] = ()
