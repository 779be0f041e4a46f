"""The write path over the real embedded adapters in one folder, driven step by step instead of by its loops.

It may be opened again on the same folder, like a process that starts after another one died.
"""

import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from dormouse import compose
from dormouse.access import lookup
from dormouse.adapters.blob_store.obstore import ObstoreBlobStore
from dormouse.adapters.catalog.transaction import SqlCatalog
from dormouse.adapters.embedder.choice import EmbedderChoice
from dormouse.adapters.extractor.lexical import LexicalExtractor
from dormouse.adapters.graph_store.sqlite import FILE_NAME, SqliteGraphStore
from dormouse.adapters.graph_store.sqlite_upkeep import SqliteGraphUpkeep
from dormouse.adapters.message_bus.sql_queue import SqlQueueBus
from dormouse.adapters.ontology_reader.rdflib import RdflibOntologyReader
from dormouse.adapters.vector_store.edge_collections import EdgeCollections
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE, LocalWorkspaceDirectory
from dormouse.audit.auditor import Auditor
from dormouse.audit.export import Exporter, What
from dormouse.ids import BlobKey, DatasetId, DocumentId, JobId, PassageId, TermId
from dormouse.jobs.lease import LEASE_MS
from dormouse.model.audit import AuditReport
from dormouse.model.dataset import Dataset
from dormouse.model.document import Content, ContentKind, Document
from dormouse.model.export import ExportRow
from dormouse.model.job import Job
from dormouse.model.passage import Passage
from dormouse.model.receipt import ForgetReceipt, IdempotencyKey, Receipt
from dormouse.model.scope import Fence, Scope
from dormouse.model.workspace import Collection
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.bundle import Ports
from dormouse.ports.embedder import EmbeddedQuery, EmbeddedText, Embedder
from dormouse.ports.extractor import WindowExtractor
from dormouse.ports.graph_store import GraphRenewal, GraphStore
from dormouse.ports.graph_upkeep import GraphUpkeep
from dormouse.text.terms import terms
from dormouse.write_path import WritePath, write_path
from tests.builders import A_PRINCIPAL
from tests.contract.ports.kept_collections import AnyCollections
from tests.contract.write_path.unused import NoAnswerer, NoReader
from tests.hand_clock import HandClock

DATASET = "main_dataset"


class CountingEmbedder:
    """The real one, with a list of what it was asked to embed."""

    def __init__(self, real: Embedder) -> None:
        self._real = real
        self.embedded: list[str] = []

    @property
    def model(self) -> str:
        return self._real.model

    @property
    def dimension(self) -> int:
        return self._real.dimension

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[EmbeddedText]:
        self.embedded += texts
        return await self._real.embed_passages(texts)

    async def embed_query(self, text: str) -> EmbeddedQuery:
        return await self._real.embed_query(text)

    async def close(self) -> None:
        """The suite closes the real one."""


@dataclass(frozen=True, slots=True)
class State:
    """What a user could notice, and what must not be left: compared after a crash with an undisturbed run."""

    documents: list[tuple[str, int, int, bool]]
    passages: list[tuple[str, int, int]]
    points: int
    hidden: int
    versions: int
    terms: Mapping[str, int]
    counted: int
    jobs: list[tuple[str, str, str]]
    unapplied: int


@dataclass(frozen=True, slots=True)
class Graph:
    """A store and the care of it; `lying` is every row of it as it lies there, by kind."""

    store: GraphStore
    upkeep: GraphUpkeep
    renewal: GraphRenewal
    lying: Callable[[], dict[str, list[Any]]]


class World:
    def __init__(
        self, ports: Ports, clock: HandClock, embedder: CountingEmbedder, folder: Path, graph: Graph
    ) -> None:
        self.ports = ports
        self.graph = graph
        self.clock = clock
        self.embedder = embedder
        self.folder = folder
        self.principal = A_PRINCIPAL
        self.path = self.fresh_path(ports)

    def fresh_path(self, ports: Ports) -> WritePath:
        """As a process that has just started would have it."""
        return write_path(ports, holder=str(uuid4()), patience=compose.PATIENCE)

    async def scope(self) -> Scope:
        async with self.ports.catalog.reading() as tx:
            return await lookup.scope_of(tx, self.principal, LOCAL_WORKSPACE)

    async def dataset_row(self, name: str) -> Dataset:
        """The caller's dataset of this name, made if it is new."""
        async with self.ports.catalog.transaction() as tx:
            dataset = await tx.datasets.ensure(LOCAL_WORKSPACE, self.principal, name)
            await tx.commit()
        return dataset

    async def remember(
        self,
        text: str,
        *,
        filename: str = "",
        external_id: str | None = None,
        key: str | None = None,
        options: dict[str, str] | None = None,
    ) -> Receipt:
        dataset = await self.dataset_row(DATASET)
        kind = ContentKind.FILE if filename else ContentKind.TEXT
        content = Content(
            body=text.encode(),
            kind=kind,
            filename=filename,
            external_id=external_id,
            occurred_ms=1_000,
            options=options or {},
        )
        idempotency = IdempotencyKey("remember", key, key) if key else None
        return await self.path.acceptor.remember(await self.scope(), dataset, content, idempotency)

    async def forget(self, document: DocumentId) -> ForgetReceipt:
        return await self.path.forgetter.forget_item(await self.scope(), await self.dataset(), document)

    async def suppress(self, document: DocumentId) -> Receipt:
        return await self.path.suppressor.suppress_item(await self.scope(), await self.dataset(), document)

    async def restore(self, document: DocumentId) -> Receipt:
        return await self.path.suppressor.restore_item(await self.scope(), await self.dataset(), document)

    async def forget_memory(self, document: DocumentId) -> ForgetReceipt:
        return await self.path.forgetter.forget_item_memory(await self.scope(), await self.dataset(), document)

    async def forget_dataset_memory(self) -> ForgetReceipt:
        return await self.path.forgetter.forget_dataset_memory(await self.scope(), await self.dataset())

    async def take_up(self) -> Sequence[Receipt]:
        return await self.path.stager.take_up_all(await self.scope(), await self.dataset_row(DATASET), {})

    async def forget_dataset(self) -> ForgetReceipt:
        return await self.path.forgetter.forget_dataset(await self.scope(), await self.dataset())

    async def forget_everything(self) -> ForgetReceipt:
        return await self.path.forgetter.forget_everything(await self.scope())

    async def extract(self, limit: int = 100) -> None:
        """Everything that waits for extraction now."""
        async with self.ports.catalog.reading() as tx:
            due = await tx.work.due(limit)
        for _, job in due:
            await self.path.extractor.extract(job)

    async def enrich(self) -> None:
        """Every job that waits for derived memories now."""
        assert self.path.enricher is not None
        while await self.path.enricher.enrich_next():
            pass

    async def apply(self) -> None:
        await self.path.applier.apply(LOCAL_WORKSPACE)

    async def apply_some(self, count: int) -> None:
        """The first changes that wait, as a process that dies after them would."""
        async with self.ports.catalog.transaction() as tx:
            lease = await tx.workspaces.acquire_lease(LOCAL_WORKSPACE, "somebody else", LEASE_MS)
            await tx.commit()
        assert lease is not None
        for _ in range(count):
            async with self.ports.catalog.reading() as tx:
                change = await tx.changes.next_unapplied(LOCAL_WORKSPACE)
            assert change is not None
            await self.path.steps.apply(lease, change)

    async def work(self) -> None:
        """Until nothing waits; what is parked or leased comes due by moving the clock."""
        for _ in range(100):
            await self.extract()
            await self.apply()
            if self.path.enricher is not None:
                await self.enrich()
                await self.apply()
            async with self.ports.catalog.reading() as tx:
                waiting = await tx.past.unapplied_count(LOCAL_WORKSPACE)
                times = (await tx.work.next_due_ms(), await tx.enrichment.next_due_ms())
                due_ms = min((each for each in times if each is not None), default=None)
                is_due = bool(await tx.work.due(1))
            if not waiting and not is_due and due_ms is None:
                return
            if due_ms is not None:
                self.clock.advance(max(due_ms - self.clock.now_ms(), 0) + 1)
        raise AssertionError("the work never ends")

    async def job(self, job: JobId) -> Job:
        async with self.ports.catalog.reading() as tx:
            return await tx.jobs.get(job)

    async def dataset(self) -> DatasetId:
        async with self.ports.catalog.reading() as tx:
            (dataset,) = await tx.datasets.owned_by(LOCAL_WORKSPACE, self.principal)
            return dataset.id

    async def documents(self) -> Sequence[Document]:
        async with self.ports.catalog.reading() as tx:
            return await tx.documents.listing(await self.dataset())

    async def passages(self) -> list[Passage]:
        """Everything in the graph, whether it is live or not."""
        found: list[Passage] = []
        scope = await self.scope()
        for document in await self.documents_ever():
            found += await self.ports.graph.passages_of(scope, document, limit=10_000)
        return found

    async def blobs_of(self, document: DocumentId) -> list[BlobKey]:
        """Whatever lies beside the jobs that ever were about the document."""
        async with self.ports.catalog.reading() as tx:
            jobs = await tx.jobs.listing(LOCAL_WORKSPACE, self.principal, limit=1000)
        about = {job.id for job in jobs if job.document == document and not job.kind.is_forget}
        return [key for key in await self.blobs() if key.split("/")[1] in about]

    def traces(self, needle: str) -> list[str]:
        """Files of the folder that hold it, and kinds of rows of the graph, wherever that is."""
        files = [path for path in sorted(self.folder.rglob("*")) if path.is_file()]
        held = [str(path.relative_to(self.folder)) for path in files if needle.encode() in path.read_bytes()]
        return held + [kind for kind, rows in self.graph.lying().items() if needle in repr(rows)]

    async def blobs(self) -> list[BlobKey]:
        return [blob.key async for blob in self.ports.blobs.list(LOCAL_WORKSPACE)]

    async def term_counts(self, *texts: str) -> tuple[int, dict[str, int]]:
        """The number of passages counted, and how many of them hold each word of these texts."""
        words = {word: TermId(next(iter(terms(word, "en")))) for text in texts for word in text.split()}
        async with self.ports.catalog.reading() as tx:
            counts = await tx.terms.counts([await self.dataset()], words.values())
        return counts.passages, {word: counts.frequencies.get(term, 0) for word, term in words.items()}

    async def export(self, *, has_suppressed: bool = True) -> list[ExportRow]:
        """Everything, vectors and term counts included."""
        what = What(has_vectors=True, has_suppressed=has_suppressed)
        return [row async for row in Exporter(self.ports).export(await self.scope(), what)]

    async def audit(self) -> AuditReport:
        return await Auditor(self.ports).audit(await self.scope())

    async def repair(self) -> AuditReport:
        """Repair what an audit finds, and audit again."""
        await self.path.repairs.repair(await self.scope(), await self.audit())
        await self.work()
        return await self.audit()

    async def lose_point(self, passage: PassageId) -> None:
        """Behind everybody's back."""
        await self.ports.vector_upkeep.drop(await self.scope(), Fence(LOCAL_WORKSPACE, 1, 0), [passage])

    async def state(self, words: str) -> State:
        scope = await self.scope()
        passages = await self.passages()
        graph = await self.ports.graph.count(scope)
        counted, frequencies = await self.term_counts(words)
        async with self.ports.catalog.reading() as tx:
            jobs = await tx.jobs.listing(LOCAL_WORKSPACE, self.principal, limit=100)
            unapplied = await tx.past.unapplied_count(LOCAL_WORKSPACE)
        return State(
            documents=sorted(
                (each.identity, each.newest_revision, each.searchable_revision, each.is_suppressed)
                for each in await self.documents()
            ),
            passages=sorted((each.text, each.first_revision, each.last_revision) for each in passages),
            points=await self.ports.vectors.count(scope),
            hidden=sum(
                each.is_hidden for each in await self.ports.vector_upkeep.marks_after(scope, None, 1000)
            ),
            versions=graph.versions,
            terms=frequencies,
            counted=counted,
            jobs=sorted(
                (job.kind.value, job.stage.value, str(job.cancel_reason))
                for job in jobs
                if not job.is_duplicate  # of a deed done twice, which only happens after a death
            ),
            unapplied=unapplied,
        )

    async def documents_ever(self) -> set[DocumentId]:
        """Live ones and all that any job was ever about."""
        async with self.ports.catalog.reading() as tx:
            jobs = await tx.jobs.listing(LOCAL_WORKSPACE, self.principal, limit=1000)
        return {job.document for job in jobs if job.document is not None}


@asynccontextmanager
async def opened(
    folder: Path,
    clock: HandClock,
    embedder: Embedder,
    *others: Embedder,
    deriver: WindowExtractor | None = None,
    catalog_url: str = "",
    blobs: BlobStore | None = None,
    collections: AnyCollections | None = None,
    graph: Graph | None = None,
) -> AsyncIterator[World]:
    """The write path on a folder, or what is named elsewhere; `others` are embedders to move to, a `deriver`
    derives memories too."""
    counting = CountingEmbedder(embedder)
    async with AsyncExitStack() as stack:
        catalog = SqlCatalog(catalog_url or f"sqlite:///{folder / 'catalog.db'}", clock)
        stack.push_async_callback(catalog.close)
        await catalog.migrate()
        if graph is None:
            graph = await stack.enter_async_context(_sqlite_graph(folder / "graph"))
        vectors: AnyCollections = collections or EdgeCollections(folder / "vectors")
        stack.push_async_callback(vectors.close)
        async with catalog.transaction() as tx:
            row = await tx.workspaces.ensure(LOCAL_WORKSPACE, "local")
            collection = row.collection or Collection("passages", counting.model, counting.dimension)
            if row.collection is None:
                await tx.workspaces.activate(LOCAL_WORKSPACE, collection)
            rebuilds = await tx.history.rebuilds(LOCAL_WORKSPACE)
            await tx.commit()
        await vectors.open(collection)
        if row.building is not None and any(each.followed_seq is not None for each in rebuilds):
            await vectors.build(row.building, must_exist=True)
        parts: dict[str, Any] = {
            "catalog": catalog,
            "graph": graph.store,
            "graph_upkeep": graph.upkeep,
            "vectors": vectors,
            "vector_upkeep": vectors,
            "renewal": graph.renewal,
            "collections": vectors,
            "blobs": blobs or ObstoreBlobStore(folder / "blobs"),
            "bus": SqlQueueBus(catalog),
            "embedders": EmbedderChoice([*others, counting], collection.model),
            "extractor": LexicalExtractor(),
            "answerer": NoAnswerer(),
            "reader": NoReader(),
            "ontology_reader": RdflibOntologyReader(),
            "directory": LocalWorkspaceDirectory(),
            "clock": clock,
            "deriver": deriver,
        }
        yield World(Ports(**parts), clock, counting, folder, graph)


@asynccontextmanager
async def _sqlite_graph(folder: Path) -> AsyncIterator[Graph]:
    store = await SqliteGraphStore.open(folder)
    try:
        yield Graph(store, SqliteGraphUpkeep(store), store, partial(_sqlite_rows, folder / FILE_NAME))
    finally:
        await store.close()


def _sqlite_rows(file: Path) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(file)) as db:
        tables = ("passages", "entities", "mentions", "relations", "versions")
        return {each: sorted(db.execute(f"SELECT * FROM {each}").fetchall(), key=repr) for each in tables}


def after_leases_ran_out(clock: HandClock) -> None:
    """As much time as a dead holder's leases need."""
    clock.advance(LEASE_MS + 1)
