"""The steps of an extraction: load, cut once, then part by part embed and extract.

Each step leaves a blob before the catalog hears of it, so a successor goes on at the first missing part.
Source: writes §2.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dormouse.codec.part import Part, decode_part, encode_part
from dormouse.codec.plan import ChunkPlan, decode_plan, encode_plan
from dormouse.errors import NotFoundError, StoreUnavailableError, UnreadableDocumentError
from dormouse.ids import BlobKey, PassageId
from dormouse.ingest.embed import embed
from dormouse.ingest.ground import ground_all
from dormouse.ingest.ontologies import Grounding, Ontologies
from dormouse.ingest.parse import parse
from dormouse.ingest.reuse import Reuse, Versions
from dormouse.ingest.split import split
from dormouse.model.document import Document, Revision
from dormouse.model.job import Job
from dormouse.model.memory import Extraction
from dormouse.model.passage import Passage, PassageVectors
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.ports.document_reader import DocumentReader
from dormouse.ports.embedder import Embedder, Embedders
from dormouse.ports.extractor import Extractor


@dataclass(frozen=True, slots=True)
class Order:
    """What one job is to extract."""

    job: Job
    document: Document
    revision: Revision


@dataclass(frozen=True, slots=True)
class Cut:
    """A plan ready to be worked through: its passages by id, what an older revision still offers, and what
    computes the rest, which stays the same for all of it."""

    plan: ChunkPlan
    passages: Mapping[PassageId, Passage]
    reuse: Reuse
    versions: Versions
    grounding: Grounding
    embedder: Embedder


class Preparation:
    def __init__(
        self,
        catalog: Catalog,
        blobs: BlobStore,
        embedders: Embedders,
        extractor: Extractor,
        reader: DocumentReader,
        ontologies: Ontologies,
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._embedders = embedders
        self._extractor = extractor
        self._reader = reader
        self._ontologies = ontologies

    async def order(self, job: Job) -> Order | None:
        """None when the document is forgotten."""
        return await self._catalog.read(lambda tx: _ordered(tx, job))

    async def stored_plan(self, order: Order) -> ChunkPlan | None:
        """The plan a predecessor made, if it came that far."""
        key = await self._catalog.read(lambda tx: tx.work.plan(order.job.id))
        return None if key is None else decode_plan(await self._blobs.get(key))

    async def make_plan(self, order: Order) -> tuple[ChunkPlan, BlobKey]:
        """Parse and cut; raises `UnreadableDocumentError` when there is nothing to remember in it."""
        revision = order.revision
        body = revision.inline if revision.blob is None else await self._blobs.get(revision.blob)
        parsed = await parse(body or b"", revision.kind, revision.filename, revision.zone, self._reader)
        # In a thread: cutting megabytes takes seconds, and the loop has callers to answer.
        passages = await asyncio.to_thread(split, parsed, order.document, revision)
        if not passages:
            raise UnreadableDocumentError("there is no text in it to remember", field="content")
        plan = ChunkPlan(order.document.id, revision.number, parsed.title, tuple(passages))
        blob = await asyncio.to_thread(encode_plan, plan)
        key = await self._blobs.put(order.job.workspace, order.job.id, blob)
        return plan, key

    async def cut(self, order: Order, plan: ChunkPlan) -> Cut:
        embedder = self._embedders.active
        grounding = await self._ontologies.grounding(order.job.principal, order.revision.options)
        versions = self._versions(embedder, order.revision, grounding)
        return Cut(
            plan=plan,
            passages={passage.id: passage for passage in plan.passages},
            reuse=Reuse(await self._older_parts(order.document), versions),
            versions=versions,
            grounding=grounding,
            embedder=embedder,
        )

    async def make_part(self, order: Order, cut: Cut, index: int) -> BlobKey:
        """Embed and extract what is new in the part, copy the rest, and store it."""
        passages = cut.plan.part(index)
        vectors, unchanged = await self._vectors(passages, cut)
        part = Part(
            index=index,
            embedder=cut.versions.embedder,
            extractor=cut.versions.extractor,
            zone=cut.versions.zone,
            unchanged=unchanged,
            passages=passages,
            extractions=await self._extractions(passages, cut),
            vectors=vectors,
        )
        blob = await asyncio.to_thread(encode_part, part)
        return await self._blobs.put(order.job.workspace, order.job.id, blob)

    async def _vectors(self, passages: Sequence[Passage], cut: Cut) -> tuple[tuple[PassageVectors, ...], int]:
        copied = {each.id: cut.reuse.vectors(each, cut.passages) for each in passages}
        fresh = [each for each in passages if copied[each.id] is None]
        computed = await embed(fresh, cut.passages, cut.embedder) if fresh else ()
        results = dict(zip((each.id for each in fresh), computed, strict=True))
        vectors = tuple(copied[each.id] or results[each.id] for each in passages)
        return vectors, len(passages) - len(fresh)

    async def _extractions(self, passages: Sequence[Passage], cut: Cut) -> tuple[Extraction, ...]:
        copied = {each.id: cut.reuse.extraction(each, cut.passages) for each in passages}
        fresh = [each for each in passages if copied[each.id] is None]
        found = await self._extractor.extract(fresh, cut.versions.zone) if fresh else ()
        if cut.grounding.version:
            found = await asyncio.to_thread(ground_all, found, fresh, cut.grounding.known)
        results = dict(zip((each.id for each in fresh), found, strict=True))
        return tuple(copied[each.id] or results[each.id] for each in passages)

    async def _older_parts(self, document: Document) -> list[Part]:
        """Of the newest applied revision: it is whole, and no failure can take it back."""
        if not document.searchable_revision:
            return []
        async with self._catalog.reading() as tx:
            older = await tx.revisions.get(document.id, document.searchable_revision)
            rows = await tx.work.parts(older.job) if older else ()
        try:
            return [decode_part(await self._blobs.get(row.blob)) for row in rows]
        except (NotFoundError, StoreUnavailableError):
            return []  # copying only saves work

    def _versions(self, embedder: Embedder, revision: Revision, grounding: Grounding) -> Versions:
        extractor = grounding.of_results(self._extractor.version)
        return Versions(embedder.model, extractor, revision.zone)


async def _ordered(tx: CatalogTransaction, job: Job) -> Order | None:
    document = await tx.documents.get(job.document) if job.document else None
    revision = await tx.revisions.get(document.id, job.revision) if document else None
    return None if document is None or revision is None else Order(job, document, revision)
