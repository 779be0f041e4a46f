"""Everything of some datasets, streamed in one canonical order.

Pages are read one after the other, not in one snapshot: only a memory at rest exports as of one moment.
Whoever needs that compares `highest_applied` before and after.
Source: writes §7.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from dormouse.audit import rows
from dormouse.audit.documents import documents_of
from dormouse.ids import DocumentId, EntityId, PassageId, TermId
from dormouse.model.dataset import Dataset
from dormouse.model.document import Document
from dormouse.model.entity import Mention, Relation
from dormouse.model.export import ExportRow
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage, Point
from dormouse.model.scope import Scope
from dormouse.ports.bundle import Ports

PAGE = 200


@dataclass(frozen=True, slots=True)
class What:
    """`has_vectors`: with each passage's vectors as the store holds them, and the term counts.

    What is suppressed is left out, and what only it mentions, unless `has_suppressed`.
    """

    has_vectors: bool = False
    has_suppressed: bool = False


class Exporter:
    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    async def export(self, scope: Scope, what: What) -> AsyncIterator[ExportRow]:
        """Of all readable datasets, by id; narrow the scope for fewer."""
        async with self._ports.catalog.reading() as tx:
            datasets = await tx.datasets.many(scope.readable)
        for dataset in sorted((each for each in datasets if each.listed), key=lambda each: each.id):
            yield rows.of_dataset(dataset)
            alone = scope.narrowed_to([dataset.id])
            async for row in self._content(alone, dataset, what):
                yield row

    async def _content(self, scope: Scope, dataset: Dataset, what: What) -> AsyncIterator[ExportRow]:
        shown: set[PassageId] = set()
        async for document in self._documents(dataset, what):
            yield rows.of_document(document)
            if document.has_no_memory:
                continue
            async for passage, following, point in self._passages(scope, document, what):
                shown.add(passage.id)
                yield rows.of_passage(passage, following, point, has_vectors=what.has_vectors)
            async for row in self._memories(scope, document, what):
                yield row
        async for row in self._links(scope, dataset, shown):
            yield row
        if what.has_vectors:
            async for row in self._terms(dataset):
                yield row

    async def _links(self, scope: Scope, dataset: Dataset, shown: set[PassageId]) -> AsyncIterator[ExportRow]:
        """What the shown passages mention, and how that is related."""
        mentions = [each async for each in self._mentions(scope) if each.passage in shown]
        mentioned = {each.entity for each in mentions}
        async for row in self._entities(scope, mentioned):
            yield row
        for mention in mentions:
            yield rows.of_mention(dataset.id, mention)
        async for relation in self._relations(scope):
            if relation.passage in shown:
                yield rows.of_relation(dataset.id, relation)

    async def _documents(self, dataset: Dataset, what: What) -> AsyncIterator[Document]:
        async for document in documents_of(self._ports.catalog, dataset.id):
            if what.has_suppressed or not document.is_suppressed:
                yield document

    async def _passages(
        self, scope: Scope, document: Document, what: What
    ) -> AsyncIterator[tuple[Passage, Passage | None, Point | None]]:
        """Each with the one right after it, and its point if vectors are wanted."""
        page = await self._page(scope, document.id, -1)
        while page:
            more = await self._page(scope, document.id, page[-1].order) if len(page) == PAGE else []
            points = await self._points(scope, [each.id for each in page]) if what.has_vectors else {}
            following: list[Passage | None] = [*page[1:], more[0] if more else None]
            for passage, behind in zip(page, following, strict=True):
                yield passage, behind, points.get(passage.id)
            page = more

    async def _page(self, scope: Scope, document: DocumentId, after_order: int) -> list[Passage]:
        found = await self._ports.graph.passages_of(scope, document, after_order=after_order, limit=PAGE)
        return list(found)

    async def _points(self, scope: Scope, ids: Sequence[PassageId]) -> dict[PassageId, Point]:
        found = await self._ports.vector_upkeep.points(scope, ids)
        return {each.passage: each for each in found}

    async def _memories(self, scope: Scope, document: Document, what: What) -> AsyncIterator[ExportRow]:
        """Derived ones with their own vectors, if any are wanted: a memory has the id of its point."""
        after: MemoryVersion | None = None
        while True:
            page = await self._ports.graph_upkeep.versions_of(scope, document.id, after, PAGE)
            derived = [PassageId(each.memory) for each in page if each.derived_by]
            points = await self._points(scope, derived) if what.has_vectors and derived else {}
            for version in page:
                yield rows.of_version(version, points.get(PassageId(version.memory)))
            if len(page) < PAGE:
                return
            after = page[-1]

    async def _entities(self, scope: Scope, mentioned: set[EntityId]) -> AsyncIterator[ExportRow]:
        after: EntityId | None = None
        while True:
            page = await self._ports.graph_upkeep.entities_after(scope, after, PAGE)
            for entity in page:
                if entity.id in mentioned:
                    yield rows.of_entity(entity)
            if len(page) < PAGE:
                return
            after = page[-1].id

    async def _mentions(self, scope: Scope) -> AsyncIterator[Mention]:
        after: Mention | None = None
        while True:
            page = await self._ports.graph_upkeep.mentions_after(scope, after, PAGE)
            for mention in page:
                yield mention
            if len(page) < PAGE:
                return
            after = page[-1]

    async def _relations(self, scope: Scope) -> AsyncIterator[Relation]:
        after: Relation | None = None
        while True:
            page = await self._ports.graph_upkeep.relations_after(scope, after, PAGE)
            for relation in page:
                yield relation
            if len(page) < PAGE:
                return
            after = page[-1]

    async def _terms(self, dataset: Dataset) -> AsyncIterator[ExportRow]:
        async with self._ports.catalog.reading() as tx:
            total = await tx.terms.counts([dataset.id], [])
        yield rows.of_total(dataset.id, total.passages)
        after: TermId | None = None
        while True:
            async with self._ports.catalog.reading() as tx:
                page = await tx.terms.page(dataset.id, after, PAGE)
            for term, passages in page:
                yield rows.of_term(dataset.id, term, passages)
            if len(page) < PAGE:
                return
            after = page[-1][0]
