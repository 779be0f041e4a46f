"""The cluster's form: everything lies on servers that any number of processes share."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from dormouse.adapters.answerer.extractive import ExtractiveAnswerer
from dormouse.adapters.catalog.postgresql_url import is_postgresql
from dormouse.adapters.catalog.transaction import SqlCatalog
from dormouse.adapters.document_reader.kreuzberg import KreuzbergDocumentReader
from dormouse.adapters.embedder.onnx import OnnxEmbedder
from dormouse.adapters.extractor.lexical import LexicalExtractor
from dormouse.adapters.ontology_reader.rdflib import RdflibOntologyReader
from dormouse.adapters.workspace_directory.local import LocalWorkspaceDirectory
from dormouse.clock import SystemClock
from dormouse.compose.assembly import ROLES, Form, Role, assemble
from dormouse.compose.models import active_collection, embedder_choice, embedder_elsewhere, language_model
from dormouse.engine import Engine
from dormouse.errors import MisconfiguredError
from dormouse.ids import WorkspaceId
from dormouse.ingest.enrich import EnrichLimits
from dormouse.jobs.fenced_call import Patience
from dormouse.model.rebuild import DerivedStore
from dormouse.model.workspace import Collection
from dormouse.ports.bundle import Ports
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.embedder import Embedder
from dormouse.server_settings import ServerSettings
from dormouse.settings import PREFIX

if TYPE_CHECKING:
    from dormouse.adapters.graph_store.neo4j import Neo4jGraphStore
    from dormouse.adapters.vector_store.qdrant_collections import QdrantCollections

WORKSPACE = WorkspaceId("default")
# Nothing proves a predecessor dead: what it had under way is outwaited.
PATIENCE = Patience()


@asynccontextmanager
async def open_shared_engine(settings: ServerSettings, roles: frozenset[Role] = ROLES) -> AsyncIterator[Engine]:
    """The engine on the cluster's servers, not yet running; `roles` are the loops that `running` will run.

    Raises `MisconfiguredError`, which names the setting, and `UnavailableError` for a server that is away. A
    broker that is away is waited for.
    """
    async with open_shared_ports(settings) as ports:
        limits = EnrichLimits(settings.llm.concurrent_calls, settings.llm.job_tokens)
        yield assemble(ports, limits, Form(roles, WORKSPACE, PATIENCE))


@asynccontextmanager
async def open_shared_ports(settings: ServerSettings) -> AsyncIterator[Ports]:
    """Every adapter, opened on its server and closed in reverse; bells ring until then."""
    _refuse_unset(settings)
    async with AsyncExitStack() as stack:
        yield await _opened(settings, stack)


async def _opened(settings: ServerSettings, stack: AsyncExitStack) -> Ports:
    # Only here: the laptop form is installed without these clients.
    from dormouse.adapters.blob_store.s3 import S3BlobStore
    from dormouse.adapters.graph_store.neo4j_upkeep import Neo4jGraphUpkeep
    from dormouse.adapters.message_bus.kafka import KafkaBus

    # The model is read in a thread meanwhile.
    is_bundled = not settings.embedding.is_configured
    loading = asyncio.get_running_loop().run_in_executor(None, OnnxEmbedder) if is_bundled else None
    catalog = SqlCatalog(settings.database.url.get_secret_value(), connections=settings.database.connections)
    stack.push_async_callback(catalog.close)
    await catalog.check()
    blobs = S3BlobStore(settings.s3)
    stack.push_async_callback(blobs.close)
    await blobs.check()
    configured: Embedder = await (loading or embedder_elsewhere(settings.embedding, catalog, WORKSPACE))
    stack.push_async_callback(configured.close)
    active = await active_collection(catalog, WORKSPACE, configured)
    embedders = await embedder_choice(catalog, WORKSPACE, configured, active)
    stack.push_async_callback(embedders.close)
    is_used = await _has_applied(catalog)
    graph = await _graph(settings, catalog, stack, must_exist=is_used)
    vectors = await _vectors(settings, catalog, active, stack, must_exist=is_used)
    bus = KafkaBus(settings.kafka, catalog)
    stack.push_async_callback(bus.close)
    await stack.enter_async_context(bus.running())
    model = language_model(settings.llm)
    if model:
        stack.push_async_callback(model.close)
    return Ports(
        catalog=catalog,
        graph=graph,
        graph_upkeep=Neo4jGraphUpkeep(graph),
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
        directory=LocalWorkspaceDirectory(WORKSPACE),
        clock=SystemClock(),
        deriver=model.extractor if model else None,
        language_model=model.use if model else lambda: None,
    )


def _refuse_unset(settings: ServerSettings) -> None:
    """All of them at once: whoever sets up a cluster should not learn of them one by one."""
    needed = {
        "DATABASE__URL": settings.database.url.get_secret_value(),
        "GRAPH__URL": settings.graph.url,
        "KAFKA__BOOTSTRAP_SERVERS": settings.kafka.bootstrap_servers,
        "S3__BUCKET": settings.s3.bucket,
        "VECTORS__URL": settings.vectors.url,
    }
    missing = [name for name, value in needed.items() if not value]
    if missing:
        raise MisconfiguredError(
            f"DORMOUSE_PROFILE=distributed needs {', '.join(PREFIX + name for name in missing)}",
            setting=missing[0],
        )
    if not is_postgresql(needed["DATABASE__URL"]):
        raise MisconfiguredError(
            "DORMOUSE_DATABASE__URL must begin with postgresql://: many processes share it",
            setting="DATABASE__URL",
        )


async def _has_applied(catalog: Catalog) -> bool:
    async with catalog.reading() as tx:
        return await tx.past.highest_applied(WORKSPACE) > 0


async def _graph(
    settings: ServerSettings, catalog: Catalog, stack: AsyncExitStack, *, must_exist: bool
) -> "Neo4jGraphStore":
    """An empty one is refused where there are memories, unless it is to be filled anew."""
    from dormouse.adapters.graph_store.neo4j import Neo4jGraphStore

    is_rebuilt = await _is_rebuilt(catalog, DerivedStore.GRAPH)
    graph = await Neo4jGraphStore.open(settings.graph, must_exist=must_exist and not is_rebuilt)
    stack.push_async_callback(graph.close)
    return graph


async def _vectors(
    settings: ServerSettings, catalog: Catalog, active: Collection, stack: AsyncExitStack, *, must_exist: bool
) -> "QdrantCollections":
    from dormouse.adapters.vector_store.qdrant_calls import QdrantCalls
    from dormouse.adapters.vector_store.qdrant_collections import QdrantCollections

    calls = QdrantCalls(settings.vectors)
    stack.push_async_callback(calls.close)
    await calls.check()
    vectors = QdrantCollections(calls, WORKSPACE)
    stack.push_async_callback(vectors.close)
    try:
        await vectors.open(active, must_exist=must_exist)
    except MisconfiguredError:
        if not await _is_rebuilt(catalog, DerivedStore.VECTORS):
            raise
        vectors.stand_in(active)
    return vectors


async def _is_rebuilt(catalog: Catalog, store: DerivedStore) -> bool:
    async with catalog.reading() as tx:
        return any(each.store is store for each in await tx.history.rebuilds(WORKSPACE))
