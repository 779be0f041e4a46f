"""The laptop's form: everything lies in one data folder, and one process owns it."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

from dormouse.adapters.answerer.extractive import ExtractiveAnswerer
from dormouse.adapters.blob_store.obstore import ObstoreBlobStore
from dormouse.adapters.catalog.transaction import SqlCatalog
from dormouse.adapters.data_folder.examine import free_bytes
from dormouse.adapters.document_reader.kreuzberg import KreuzbergDocumentReader
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
from dormouse.compose.assembly import assemble
from dormouse.compose.models import active_collection, embedder_choice, embedder_elsewhere, language_model
from dormouse.engine import Engine
from dormouse.errors import MisconfiguredError, UnavailableError
from dormouse.ids import PrincipalId
from dormouse.ingest.enrich import EnrichLimits
from dormouse.model.rebuild import DerivedStore, Rebuild
from dormouse.model.workspace import Collection
from dormouse.ports.bundle import Ports
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.embedder import Embedder
from dormouse.rebuild.catch_up import note_what_lags
from dormouse.settings import EngineSettings

ROOM_BYTES = 100_000_000  # for the logs and for rewriting segments of vectors
CATALOG_NAME = "catalog.sqlite3"
LOCAL_PRINCIPAL = PrincipalId("local")


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
    refuse_lost_catalog(folder)
    catalog = SqlCatalog(f"sqlite:///{folder / CATALOG_NAME}", clock)
    stack.push_async_callback(catalog.close)
    await catalog.migrate()
    await catalog.check()
    # A lost file must not come back empty: finding nothing would be the wrong answer.
    is_used = await _has_applied(catalog)
    graph = await _graph(folder, catalog, must_exist=is_used)
    stack.push_async_callback(graph.close)
    configured: Embedder = await (loading or embedder_elsewhere(settings.embedding, catalog, LOCAL_WORKSPACE))
    stack.push_async_callback(configured.close)
    active = await local_collection(catalog, configured)
    embedders = await embedder_choice(catalog, LOCAL_WORKSPACE, configured, active)
    stack.push_async_callback(embedders.close)
    vectors = EdgeCollections(folder / "vectors")
    stack.push_async_callback(vectors.close)
    await _open_collections(vectors, catalog, active, must_exist=is_used)
    await note_what_lags(catalog, LOCAL_WORKSPACE, await _reached(catalog, graph, vectors))
    blobs = ObstoreBlobStore(folder / "blobs")
    stack.push_async_callback(blobs.close)
    bus = SqlQueueBus(catalog)
    stack.push_async_callback(bus.close)
    model = language_model(settings.llm)
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
        language_model=model.use if model else lambda: None,
        free_bytes=lambda: free_bytes(folder),
    )


@asynccontextmanager
async def open_engine(settings: EngineSettings) -> AsyncIterator[Engine]:
    """The engine on its data folder, not yet running."""
    async with open_ports(settings) as ports:
        limits = EnrichLimits(settings.llm.concurrent_calls, settings.llm.job_tokens)
        yield assemble(ports, limits)


async def local_collection(catalog: Catalog, configured: Embedder) -> Collection:
    """The folder's, with everybody it needs: made for the configured model if there is none yet."""
    async with catalog.transaction() as tx:
        await tx.access.ensure_principal(LOCAL_PRINCIPAL, "local owner")
        await tx.commit()
    return await active_collection(catalog, LOCAL_WORKSPACE, configured)


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


def refuse_lost_catalog(folder: Path) -> None:
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
