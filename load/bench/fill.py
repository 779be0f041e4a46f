"""Fills the stores through their ports: everything that a recall touches, without the jobs that would make it.

Texts are cut, weighed and counted as remembering does it; vectors are drawn by the text's hash, and every
sentence of a passage becomes a fact, which is about what the lexical extractor finds.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256

from dormouse import ids
from dormouse.access.writer import writer_scope
from dormouse.compose import LOCAL_PRINCIPAL
from dormouse.ingest.embed import embed
from dormouse.ingest.preview import Preview
from dormouse.model.document import Content, Document, Revision
from dormouse.model.interval import Interval
from dormouse.model.memory import Basis, MemoryKind, MemoryVersion, SourceKind
from dormouse.model.passage import Passage, PassageVectors, Point
from dormouse.model.scope import Fence
from dormouse.ports.bundle import Ports
from dormouse.ports.graph_store import GraphRows
from load.bench.synthetic import contents

DATASET = "bench"
DOCUMENTS_AT_ONCE = 10  # one write for about 500 passages
FACTS_PER_PASSAGE = 4
_NO_JOB = ids.JobId("00000000-0000-4000-8000-000000000000")


async def fill(ports: Ports, workspace: ids.WorkspaceId, size: int) -> None:
    started = time.perf_counter()
    async with ports.catalog.transaction() as tx:
        dataset = await tx.datasets.ensure(workspace, LOCAL_PRINCIPAL, DATASET)
        await tx.commit()
    filler = _Filler(ports, workspace, dataset.id)
    waiting: list[Content] = []
    for content in contents(size):
        waiting.append(content)
        if len(waiting) == DOCUMENTS_AT_ONCE:
            await filler.write(waiting)
            waiting = []
    if waiting:
        await filler.write(waiting)
    took_s = time.perf_counter() - started
    print(f"<!-- {filler.passages} passages put into the stores in {took_s:.0f} s -->", flush=True)


class _Filler:
    def __init__(self, ports: Ports, workspace: ids.WorkspaceId, dataset: ids.DatasetId) -> None:
        self._ports, self._workspace, self._dataset = ports, workspace, dataset
        self._cutting = Preview(ports.clock)
        self._changes = 0
        self.passages = 0

    async def write(self, some: Sequence[Content]) -> None:
        self._changes += 1
        documents = [self._document(content) for content in some]
        revisions = [_revision(document, content) for document, content in zip(documents, some, strict=True)]
        cut: list[Passage] = []
        for document, revision in zip(documents, revisions, strict=True):
            cut.extend(await self._cutting.passages_of(document, revision))
        vectors = await embed(cut, {}, self._ports.embedder)
        scope, fence = writer_scope(self._workspace, self._dataset), Fence(self._workspace, 1, self._changes)
        points = [Point.of(passage, its) for passage, its in zip(cut, vectors, strict=True)]
        await self._ports.vectors.upsert(scope, fence, points)
        versions = [version for passage in cut for version in _facts(passage)]
        await self._ports.graph.write(scope, fence, GraphRows(passages=tuple(cut), versions=tuple(versions)))
        await self._count(documents, vectors)
        self.passages += len(cut)

    async def _count(self, documents: Sequence[Document], vectors: Sequence[PassageVectors]) -> None:
        frequencies = Counter(term for each in vectors for term in each.terms)
        async with self._ports.catalog.transaction() as tx:
            for document in documents:
                await tx.documents.save(document)
            await tx.terms.add(self._dataset, 0, len(vectors), frequencies)
            await tx.commit()

    def _document(self, content: Content) -> Document:
        identity = f"text\0{sha256(content.body).hexdigest()}"
        now_ms = self._ports.clock.now_ms()
        return Document(
            id=ids.document_id(self._dataset, identity, 0, 0),
            workspace=self._workspace,
            dataset=self._dataset,
            owner=LOCAL_PRINCIPAL,
            identity=identity,
            name="",
            external_id=None,
            dataset_generation=0,
            item_generation=0,
            newest_revision=1,
            searchable_revision=1,
            created_ms=now_ms,
            updated_ms=now_ms,
        )


def _revision(document: Document, content: Content) -> Revision:
    return Revision(
        document=document.id,
        number=1,
        job=_NO_JOB,
        content_sha256=sha256(content.body).hexdigest(),
        kind=content.kind,
        filename="",
        size_bytes=len(content.body),
        inline=content.body,
        blob=None,
        occurred_ms=None,
        offset_minutes=None,
        zone="UTC",
        is_failed=False,
        created_ms=document.created_ms,
    )


def _facts(passage: Passage) -> Iterator[MemoryVersion]:
    for number, sentence in enumerate(passage.text.split(". ")[:FACTS_PER_PASSAGE]):
        memory = ids.memory_id(passage.id, "fact", sentence, number)
        yield MemoryVersion(
            id=ids.version_id(memory, 1),
            memory=memory,
            kind=MemoryKind.FACT,
            dataset=passage.dataset,
            document=passage.document,
            passage=passage.id,
            dataset_generation=0,
            content=sentence,
            quote=sentence,
            source=SourceKind.STATED,
            confidence=0.75,
            valid=Interval(),
            valid_basis=Basis.ASSERTED,
            about=None,
            precision=None,
            transaction=Interval(0),
        )
