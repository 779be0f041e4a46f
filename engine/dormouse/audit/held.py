"""What graph and vectors hold of a document or a dataset, read page by page."""

from collections.abc import AsyncIterator

from dormouse.audit.judge import Held
from dormouse.ids import DatasetId, DocumentId, MemoryId, PassageId, TermId
from dormouse.model.change import Erasure
from dormouse.model.document import Document
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.model.scope import Scope
from dormouse.ports.bundle import Ports
from dormouse.ports.vector_upkeep import PointMark

PAGE = 500
ALL_OF_A_DOCUMENT = 1_000_000  # passages; the limit of content bounds it long before


class HeldReader:
    def __init__(self, ports: Ports) -> None:
        self._graph, self._upkeep, self._vectors = ports.graph, ports.graph_upkeep, ports.vector_upkeep
        self._catalog = ports.catalog

    async def of(self, scope: Scope, document: Document) -> Held:
        """Derived passages too, which no listing of the document has."""
        what = Erasure(document.dataset, document.id)
        found = await self._graph.matching(scope, what, limit=ALL_OF_A_DOCUMENT)
        passages = {each.id: each for each in found}
        marks = {mark.passage: mark async for mark in self.marks(scope, document.id)}
        memories: set[MemoryId] = set()
        spoken_of: set[PassageId] = set()
        async for version in self._versions(scope, document.id):
            memories.add(version.memory)
            if version.derived_by:
                spoken_of.add(version.passage)
        return Held(passages, memories, marks, spoken_of)

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

    async def _versions(self, scope: Scope, document: DocumentId) -> AsyncIterator[MemoryVersion]:
        """Those believed no longer too."""
        after: MemoryVersion | None = None
        while page := await self._upkeep.versions_of(scope, document, after, PAGE):
            for version in page:
                yield version
            after = page[-1]
