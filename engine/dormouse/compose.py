"""Picks the adapters and puts the engine together; the only place that knows both.

The laptop's form: everything lies in one data folder, and one process owns it.
"""

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator, Iterator
from collections.abc import Collection as Some
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from dormouse.access.lookup import visible
from dormouse.adapters.answerer.extractive import ExtractiveAnswerer
from dormouse.adapters.blob_store.obstore import ObstoreBlobStore
from dormouse.adapters.catalog.transaction import SqlCatalog
from dormouse.adapters.document_reader.kreuzberg import KreuzbergDocumentReader
from dormouse.adapters.embedder.choice import AbsentEmbedder, EmbedderChoice
from dormouse.adapters.embedder.onnx import MODEL as BUNDLED_MODEL
from dormouse.adapters.embedder.onnx import OnnxEmbedder
from dormouse.adapters.extractor.lexical import LexicalExtractor
from dormouse.adapters.graph_store.sqlite import FILE_NAME as GRAPH_NAME
from dormouse.adapters.graph_store.sqlite import SqliteGraphStore
from dormouse.adapters.graph_store.sqlite_upkeep import SqliteGraphUpkeep
from dormouse.adapters.message_bus.sql_queue import SqlQueueBus
from dormouse.adapters.ontology_reader.rdflib import RdflibOntologyReader
from dormouse.adapters.vector_store.edge_collections import EdgeCollections
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE, LocalWorkspaceDirectory
from dormouse.clock import SystemClock
from dormouse.engine import Acceptors, Engine
from dormouse.errors import MisconfiguredError, UnavailableError
from dormouse.ids import PrincipalId
from dormouse.ingest.enrich import EnrichLimits, end_without_model
from dormouse.ingest.preview import Preview
from dormouse.jobs.fenced_call import Patience
from dormouse.model.job import Job
from dormouse.model.rebuild import DerivedStore, Rebuild
from dormouse.model.workspace import Collection
from dormouse.ports.bundle import Ports
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.embedder import Embedder
from dormouse.rebuild import request
from dormouse.rebuild.catch_up import note_what_lags
from dormouse.recall.pipeline import RecallPipeline
from dormouse.running import Loops, Upkeep
from dormouse.sessions.search import search
from dormouse.settings import EmbeddingSettings, EngineSettings, LLMSettings
from dormouse.write_path import write_path

if TYPE_CHECKING:
    from dormouse.adapters.language_model.opening import LanguageModel

ROOM_BYTES = 100_000_000  # for the logs and for rewriting segments of vectors
CATALOG_NAME = "catalog.sqlite3"
LOCAL_PRINCIPAL = PrincipalId("local")

# The folder's lock proves a predecessor dead: none of its calls can still be under way.
PATIENCE = Patience(erase_s=60.0, takeover_s=0.0)


@asynccontextmanager
async def open_ports(settings: EngineSettings) -> AsyncIterator[Ports]:
    """Every adapter, opened on the data folder and closed in reverse.

    Raises `MisconfiguredError` (damaged files, another model than the one that made the vectors) and
    `UnavailableError`; whoever calls owns the folder.
    """
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        with _full_disk_named(settings.data_dir):
            ports = await _opened(settings, stack)
        yield ports


async def _opened(settings: EngineSettings, stack: AsyncExitStack) -> Ports:
    folder, clock = settings.data_dir, SystemClock()
    # The model is read in a thread meanwhile: it is a quarter of the time a start takes.
    is_bundled = not settings.embedding.is_configured
    loading = asyncio.get_running_loop().run_in_executor(None, OnnxEmbedder) if is_bundled else None
    _refuse_lost_catalog(folder)
    catalog = SqlCatalog(f"sqlite:///{folder / CATALOG_NAME}", clock)
    stack.push_async_callback(catalog.close)
    await catalog.migrate()
    await catalog.check()
    # A lost file must not come back empty: finding nothing would be the wrong answer.
    is_used = await _has_applied(catalog)
    graph = await _graph(folder, catalog, must_exist=is_used)
    stack.push_async_callback(graph.close)
    configured: Embedder = await (loading or _embedder_elsewhere(settings.embedding, catalog))
    stack.push_async_callback(configured.close)
    active = await _collection(catalog, configured)
    embedders = await _embedders(catalog, configured, active)
    stack.push_async_callback(embedders.close)
    vectors = EdgeCollections(folder / "vectors")
    stack.push_async_callback(vectors.close)
    await _open_collections(vectors, catalog, active, must_exist=is_used)
    await note_what_lags(catalog, LOCAL_WORKSPACE, await _reached(catalog, graph, vectors))
    blobs = ObstoreBlobStore(folder / "blobs")
    stack.push_async_callback(blobs.close)
    bus = SqlQueueBus(catalog)
    stack.push_async_callback(bus.close)
    model = _language_model(settings.llm)
    if model:
        stack.push_async_callback(model.close)
    return Ports(
        catalog=catalog,
        graph=graph,
        graph_upkeep=SqliteGraphUpkeep(graph),
        vectors=vectors,
        vector_upkeep=vectors,
        renewal=graph,
        collections=vectors,
        blobs=blobs,
        bus=bus,
        embedders=embedders,
        extractor=LexicalExtractor(),
        answerer=model.answerer if model else ExtractiveAnswerer(),
        reader=KreuzbergDocumentReader(),
        ontology_reader=RdflibOntologyReader(),
        directory=LocalWorkspaceDirectory(),
        clock=clock,
        deriver=model.extractor if model else None,
    )


def assemble(ports: Ports, limits: EnrichLimits = EnrichLimits()) -> Engine:  # noqa: B008 - frozen
    """The engine over any set of ports; nothing is started."""
    # New with every start: a dead predecessor's leases must not look like our own, and pids come again.
    path = write_path(ports, holder=f"{socket.gethostname()}:{uuid4()}", patience=PATIENCE, limits=limits)
    enrich = path.enricher.run if path.enricher else partial(end_without_model, ports.catalog)
    beside = {"embed-again": path.embed_again.run, "enrich": enrich}
    upkeep = Upkeep(ports.catalog, ports.vectors, LOCAL_WORKSPACE)
    return Engine(
        ports,
        accepts=Acceptors(path.acceptor, path.stager, path.forgetter, path.suppressor, path.repairs),
        pipeline=RecallPipeline(
            ports,
            session_search=partial(search, ports.catalog),
            visible=visible,
            passages_of=Preview(ports.clock).passages_of,
        ),
        rebuilds=request.RebuildRequests(ports.catalog, ports.bus, ports.collections, ports.embedders),
        loops=Loops(path.extractor, path.applier, path.sweeper, upkeep, beside),
    )


async def request_rebuild(settings: EngineSettings, stores: Some[DerivedStore]) -> Job:
    """Note it for the next start, for a folder whose stores may not open; whoever calls owns the folder.

    Raises what `open_ports` raises for the catalog, and `ConflictError` where there is nothing to rebuild.
    """
    async with _catalog_alone(settings) as catalog, catalog.transaction() as tx:
        job = await request.request_rebuild(tx, LOCAL_WORKSPACE, LOCAL_PRINCIPAL, stores)
        await tx.commit()
        return job


async def request_migration(settings: EngineSettings) -> Job:
    """Note the move to the configured model for the next start; whoever calls owns the folder."""
    async with _catalog_alone(settings) as catalog:
        configured = await _configured(settings.embedding, catalog)
        await configured.close()  # only its name and the length of its vectors are wanted
        await _collection(catalog, configured)
        async with catalog.transaction() as tx:
            job = await request.request_migration(
                tx, LOCAL_WORKSPACE, LOCAL_PRINCIPAL, configured.model, configured.dimension
            )
            await tx.commit()
            return job


async def drop_migration(settings: EngineSettings) -> Job | None:
    """Give up the move to another model, if one is under way; whoever calls owns the folder. The next start
    removes what was built of it."""
    async with _catalog_alone(settings) as catalog, catalog.transaction() as tx:
        await tx.workspaces.ensure(LOCAL_WORKSPACE, "local")
        job = await request.drop_migration(tx, LOCAL_WORKSPACE)
        await tx.commit()
        return job


@asynccontextmanager
async def _catalog_alone(settings: EngineSettings) -> AsyncIterator[Catalog]:
    """Without the stores: what is noted there may be what lets them open again."""
    _refuse_lost_catalog(settings.data_dir)
    catalog = SqlCatalog(f"sqlite:///{settings.data_dir / CATALOG_NAME}", SystemClock())
    try:
        await catalog.migrate()
        await catalog.check()
        yield catalog
    finally:
        await catalog.close()


@asynccontextmanager
async def open_engine(settings: EngineSettings) -> AsyncIterator[Engine]:
    """The engine on its data folder, not yet running."""
    async with open_ports(settings) as ports:
        yield assemble(ports, EnrichLimits(settings.llm.concurrent_calls, settings.llm.job_tokens))


def _language_model(settings: LLMSettings) -> "LanguageModel | None":
    if not settings.is_configured:
        return None
    # Only here: the client library takes a second to load, which nobody without a model waits for.
    from dormouse.adapters.language_model.opening import open_language_model

    return open_language_model(settings)


@contextmanager
def _full_disk_named(folder: Path) -> Iterator[None]:
    """On a full disk the stores fail in ways that look like damage."""
    try:
        yield
    except (UnavailableError, MisconfiguredError) as exc:
        if shutil.disk_usage(folder).free >= ROOM_BYTES:
            raise
        raise MisconfiguredError(
            f"the disk of the data folder is full: a start needs {ROOM_BYTES // 1_000_000} MB; free some space",
            setting="DATA_DIR",
        ) from exc


def _refuse_lost_catalog(folder: Path) -> None:
    """The catalog is made before the graph: a graph alone is a memory that lost its truth."""
    if (folder / GRAPH_NAME).exists() and not (folder / CATALOG_NAME).exists():
        raise MisconfiguredError(
            f"{CATALOG_NAME} is missing, but other files of a memory are in the data folder: put a backup of "
            "the folder in its place, or choose another one",
            setting="DATA_DIR",
        )


async def _has_applied(catalog: Catalog) -> bool:
    async with catalog.reading() as tx:
        return await tx.past.highest_applied(LOCAL_WORKSPACE) > 0


async def _configured(settings: EmbeddingSettings, catalog: Catalog) -> Embedder:
    if settings.is_configured:
        return await _embedder_elsewhere(settings, catalog)
    return await asyncio.to_thread(OnnxEmbedder)


async def _embedder_elsewhere(settings: EmbeddingSettings, catalog: Catalog) -> Embedder:
    from dormouse.adapters.embedder.openai import OpenAIEmbedder

    async with catalog.transaction() as tx:
        row = await tx.workspaces.ensure(LOCAL_WORKSPACE, "local")
    # What is known is not asked for: a start must not need an endpoint that is away just now.
    known = {each.model: each.dimension for each in (row.collection, row.building) if each is not None}
    return await OpenAIEmbedder.open(settings, known.get(settings.model))


async def _graph(folder: Path, catalog: Catalog, *, must_exist: bool) -> SqliteGraphStore:
    """Whatever state it is in, if it is to be made anew; what was begun goes on if it is sound."""
    rebuild = await _rebuild_of(catalog, DerivedStore.GRAPH)
    if rebuild is None or rebuild.job is None:
        return await SqliteGraphStore.open(folder, must_exist=must_exist)
    try:
        return await SqliteGraphStore.open(folder, must_exist=True)
    except MisconfiguredError:
        await _start_over(catalog, rebuild)
        return await SqliteGraphStore.open_anew(folder)


async def _open_collections(
    vectors: EdgeCollections, catalog: Catalog, active: Collection, *, must_exist: bool
) -> None:
    rebuild = await _rebuild_of(catalog, DerivedStore.VECTORS)
    async with catalog.reading() as tx:
        building = (await tx.workspaces.get(LOCAL_WORKSPACE)).building
    await vectors.tidy([each.name for each in (active, building) if each is not None])
    try:
        await vectors.open(active, must_exist=must_exist)
    except MisconfiguredError:
        if rebuild is None or building is None or building.model != active.model:
            raise
        vectors.stand_in(active)
    if rebuild is None or building is None or rebuild.followed_seq is None:
        return
    try:
        await vectors.build(building, must_exist=True)
    except MisconfiguredError:
        await _start_over(catalog, rebuild)


async def _reached(
    catalog: Catalog, graph: SqliteGraphStore, vectors: EdgeCollections
) -> dict[DerivedStore, int | None]:
    rebuild = await _rebuild_of(catalog, DerivedStore.VECTORS)
    is_built = rebuild is not None and rebuild.job is not None
    return {
        DerivedStore.GRAPH: await graph.reached(LOCAL_WORKSPACE),
        DerivedStore.VECTORS: await (vectors.built_through() if is_built else vectors.reached()),
    }


async def _rebuild_of(catalog: Catalog, store: DerivedStore) -> Rebuild | None:
    async with catalog.reading() as tx:
        found = [each for each in await tx.history.rebuilds(LOCAL_WORKSPACE) if each.store is store]
    return found[0] if found else None


async def _start_over(catalog: Catalog, rebuild: Rebuild) -> None:
    async with catalog.transaction() as tx:
        await tx.history.begin(replace(rebuild, followed_seq=None, lost=0))
        await tx.commit()


async def _collection(catalog: Catalog, configured: Embedder) -> Collection:
    """The workspace's collection, made for the configured model if there is none yet."""
    async with catalog.transaction() as tx:
        await tx.access.ensure_principal(LOCAL_PRINCIPAL, "local owner")
        workspace = await tx.workspaces.ensure(LOCAL_WORKSPACE, "local")
        collection = workspace.collection or Collection("memories", configured.model, configured.dimension)
        if workspace.collection is None:
            await tx.workspaces.activate(LOCAL_WORKSPACE, collection)
        await tx.commit()
    return collection


async def _embedders(catalog: Catalog, configured: Embedder, active: Collection) -> EmbedderChoice:
    """The configured model, and the one that made the active vectors if it is another.

    Raises `MisconfiguredError` where that one cannot be had: its vectors could not be searched.
    """
    if configured.model == active.model:
        return EmbedderChoice([configured])
    async with catalog.reading() as tx:
        building = (await tx.workspaces.get(LOCAL_WORKSPACE)).building
    if active.model == BUNDLED_MODEL:
        former: Embedder = await asyncio.to_thread(OnnxEmbedder)
    elif building is not None and building.model == configured.model:
        former = AbsentEmbedder(active.model, active.dimension)
    else:
        raise MisconfiguredError(
            f"these memories were embedded with {active.model}, and {configured.model} is configured: choose "
            "the former model again, or run `dormouse migrate-embedding` to embed everything with the new one",
            setting="EMBEDDING__MODEL",
        )
    return EmbedderChoice([configured, former], active.model)
