"""Picks the adapters and puts the engine together; the only place that knows both.

The laptop's form: everything lies in one data folder, and one process owns it.
"""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from dormouse.access.lookup import visible
from dormouse.adapters.answerer.extractive import ExtractiveAnswerer
from dormouse.adapters.blob_store.obstore import ObstoreBlobStore
from dormouse.adapters.catalog.transaction import SqlCatalog
from dormouse.adapters.document_reader.kreuzberg import KreuzbergDocumentReader
from dormouse.adapters.embedder.onnx import OnnxEmbedder
from dormouse.adapters.extractor.lexical import LexicalExtractor
from dormouse.adapters.graph_store.sqlite import SqliteGraphStore
from dormouse.adapters.message_bus.sql_queue import SqlQueueBus
from dormouse.adapters.vector_store.qdrant_edge import QdrantEdgeVectorStore
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE, LocalWorkspaceDirectory
from dormouse.apply.counted import CountedTerms
from dormouse.apply.decide import Decider
from dormouse.apply.loop import Applier
from dormouse.apply.settle import Settler
from dormouse.apply.steps import Deeds, Steps
from dormouse.apply.takeover import Takeover
from dormouse.apply.write import StoreWriter
from dormouse.clock import SystemClock
from dormouse.engine import Engine
from dormouse.errors import MisconfiguredError
from dormouse.forget.accept import ForgetAcceptor
from dormouse.forget.erase import Eraser
from dormouse.ids import PrincipalId
from dormouse.ingest.accept import Acceptor
from dormouse.ingest.extract import ExtractWorker
from dormouse.ingest.outcome import Outcomes
from dormouse.ingest.prepare import Preparation
from dormouse.ingest.preview import Preview
from dormouse.ingest.sweep import Sweeper
from dormouse.jobs.fenced_call import FencedCalls, Patience
from dormouse.model.workspace import Collection
from dormouse.ports.bundle import Ports
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.embedder import Embedder
from dormouse.recall.pipeline import RecallPipeline
from dormouse.running import Loops, Upkeep
from dormouse.sessions.search import search
from dormouse.settings import EngineSettings

LOCAL_PRINCIPAL = PrincipalId("local")

# The folder's lock proves a predecessor dead: none of its calls can still be under way.
PATIENCE = Patience(erase_s=60.0, takeover_s=0.0)


@asynccontextmanager
async def open_ports(settings: EngineSettings) -> AsyncIterator[Ports]:
    """Every adapter, opened on the data folder and closed in reverse.

    Raises `MisconfiguredError` (damaged files, another model than the one that made the vectors) and
    `UnavailableError`; whoever calls owns the folder.
    """
    folder, clock = settings.data_dir, SystemClock()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        catalog = SqlCatalog(f"sqlite:///{folder / 'catalog.sqlite3'}", clock)
        stack.push_async_callback(catalog.close)
        await catalog.migrate()
        await catalog.check()
        embedder = OnnxEmbedder()
        stack.push_async_callback(embedder.close)
        graph = await SqliteGraphStore.open(folder)
        stack.push_async_callback(graph.close)
        vectors = QdrantEdgeVectorStore(folder / "vectors")
        stack.push_async_callback(vectors.close)
        await vectors.open(await _collection(catalog, embedder))
        blobs = ObstoreBlobStore(folder / "blobs")
        stack.push_async_callback(blobs.close)
        bus = SqlQueueBus(catalog)
        stack.push_async_callback(bus.close)
        yield Ports(
            catalog=catalog,
            graph=graph,
            vectors=vectors,
            blobs=blobs,
            bus=bus,
            embedder=embedder,
            extractor=LexicalExtractor(),
            answerer=ExtractiveAnswerer(),
            reader=KreuzbergDocumentReader(),
            directory=LocalWorkspaceDirectory(),
            clock=clock,
        )


def assemble(ports: Ports) -> Engine:
    """The engine over any set of ports; nothing is started."""
    holder = f"{socket.gethostname()}:{os.getpid()}"
    sweeper = Sweeper(ports.catalog, ports.blobs, ports.bus, ports.directory, ports.clock)
    outcomes = Outcomes(ports.catalog, ports.blobs, ports.clock, holder=holder, alarm=sweeper.wake)
    preparation = Preparation(ports.catalog, ports.blobs, ports.embedder, ports.extractor, ports.reader)
    loops = Loops(
        ExtractWorker(ports.catalog, ports.bus, preparation, outcomes),
        _applier(ports, sweeper, holder),
        sweeper,
        Upkeep(ports.catalog, ports.vectors, LOCAL_WORKSPACE),
    )
    return Engine(
        ports,
        acceptor=Acceptor(ports.catalog, ports.blobs, ports.bus, ports.clock),
        forgetter=ForgetAcceptor(ports.catalog, ports.bus),
        pipeline=RecallPipeline(
            ports,
            session_search=partial(search, ports.catalog),
            visible=visible,
            passages_of=Preview(ports.clock).passages_of,
        ),
        loops=loops,
    )


@asynccontextmanager
async def open_engine(settings: EngineSettings) -> AsyncIterator[Engine]:
    """The engine on its data folder, not yet running."""
    async with open_ports(settings) as ports:
        yield assemble(ports)


def _applier(ports: Ports, sweeper: Sweeper, holder: str) -> Applier:
    catalog, graph, blobs = ports.catalog, ports.graph, ports.blobs
    calls = FencedCalls(catalog, PATIENCE)
    counted = CountedTerms(catalog, blobs)
    eraser = Eraser(catalog, graph, ports.vectors, blobs, calls, counted.removal)
    writer = StoreWriter(graph, ports.vectors, blobs, calls)
    steps = Steps(
        catalog,
        Decider(catalog, graph, blobs, counted, eraser.plan),
        Settler(catalog, blobs),
        Deeds(upsert=writer.write, erase=eraser.erase, clear=eraser.clear),
        alarm=sweeper.wake,
    )
    takeover = Takeover(catalog, graph, calls, PATIENCE, eraser.again)
    return Applier(catalog, ports.bus, steps, takeover, holder=holder)


async def _collection(catalog: Catalog, embedder: Embedder) -> Collection:
    """The workspace's collection, made for this model if there is none yet.

    Raises `MisconfiguredError` when another model filled it: finding nothing would be the wrong answer.
    """
    async with catalog.transaction() as tx:
        await tx.access.ensure_principal(LOCAL_PRINCIPAL, "local owner")
        workspace = await tx.workspaces.ensure(LOCAL_WORKSPACE, "local")
        collection = workspace.collection or Collection("memories", embedder.model, embedder.dimension)
        if collection.model != embedder.model:
            raise MisconfiguredError(
                f"these memories were embedded with {collection.model}, and {embedder.model} is configured: "
                "choose the former model again, or use another data folder",
                setting="EMBEDDING__MODEL",
            )
        await tx.workspaces.activate(LOCAL_WORKSPACE, collection)
        await tx.commit()
    return collection
