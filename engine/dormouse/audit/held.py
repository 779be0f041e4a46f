"""What graph and vectors hold of a document or a dataset, read page by page."""

from collections.abc import AsyncIterator

from dormouse.audit.judge import Held
from dormouse.ids import DatasetId, DocumentId, MemoryId, PassageId, TermId
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.model.scope import Scope
from dormouse.ports.bundle import Ports
from dormouse.ports.vector_upkeep import PointMark

PAGE = 500


class HeldReader:
    def __init__(self, ports: Ports) -> None:
        self._graph, self._upkeep, self._vectors = ports.graph, ports.graph_upkeep, ports.vector_upkeep
        self._catalog = ports.catalog

    async def of(self, scope: Scope, document: DocumentId) -> Held:
        passages: dict[PassageId, Passage] = {}
        order = -1
        while page := await self._graph.passages_of(scope, document, after_order=order, limit=PAGE):
            passages.update((each.id, each) for each in page)
            order = page[-1].order
        marks = {mark.passage: mark async for mark in self.marks(scope, document)}
        return Held(passages, await self._memories(scope, document), marks)

    async def passages(self, scope: Scope) -> AsyncIterator[Passage]:
        """All of the scope, by id."""
        after: PassageId | None = None
        while page := await self._upkeep.passages_after(scope, after, PAGE):
            for passage in page:
                yield passage
            after = page[-1].id

    async def marks(self, scope: Scope, document: DocumentId | None = None) -> AsyncIterator[PointMark]:
        """All of the scope or of one document, by id."""
        after: PassageId | None = None
        while page := await self._vectors.marks_after(scope, after, PAGE, document=document):
            for mark in page:
                yield mark
            after = page[-1].passage

    async def terms(self, dataset: DatasetId) -> tuple[int, dict[int, int]]:
        """How many passages the statistics count, and how many hold each term."""
        stored: dict[int, int] = {}
        after: TermId | None = None
        async with self._catalog.reading() as tx:
            total = (await tx.terms.counts([dataset], [])).passages
            while page := await tx.terms.page(dataset, after, PAGE):
                stored.update((int(term), count) for term, count in page)
                after = page[-1][0]
        return total, stored

    async def _memories(self, scope: Scope, document: DocumentId) -> frozenset[MemoryId]:
        found: set[MemoryId] = set()
        after: MemoryVersion | None = None
        while page := await self._upkeep.versions_of(scope, document, after, PAGE):
            found.update(each.memory for each in page)
            after = page[-1]
        return frozenset(found)
