"""Adapters as fixtures, typed as their ports: one suite runs against each."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dormouse.adapters.blob_store.obstore import ObstoreBlobStore
from dormouse.adapters.catalog.transaction import SqlCatalog
from dormouse.adapters.graph_store.sqlite import SqliteGraphStore
from dormouse.adapters.graph_store.sqlite_upkeep import SqliteGraphUpkeep
from dormouse.adapters.message_bus.sql_queue import SqlQueueBus
from dormouse.adapters.vector_store.edge_collections import EdgeCollections
from dormouse.adapters.vector_store.qdrant_edge import QdrantEdgeVectorStore
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.graph_store import GraphStore
from dormouse.ports.graph_upkeep import GraphUpkeep
from dormouse.ports.message_bus import MessageBus
from dormouse.ports.vector_store import VectorStore
from dormouse.ports.vector_upkeep import VectorUpkeep
from tests.builders import NOW_MS
from tests.contract.ports.kept_collections import AnyCollections, KeptCollections
from tests.contract.ports.store_samples import COLLECTION
from tests.hand_clock import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock(NOW_MS)


@pytest.fixture(params=["sqlite"])
def catalog_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place where no catalog is yet."""
    assert request.param == "sqlite"
    return f"sqlite:///{tmp_path / 'catalog.db'}"


@pytest.fixture
async def catalog(catalog_url: str, clock: HandClock) -> AsyncIterator[Catalog]:
    """Migrated and empty."""
    opened = SqlCatalog(catalog_url, clock)
    try:
        await opened.migrate()
        yield opened
    finally:
        await opened.close()


@pytest.fixture(params=["sqlite"])
async def graph(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[GraphStore]:
    assert request.param == "sqlite"
    opened = await SqliteGraphStore.open(tmp_path / "graph")
    try:
        yield opened
    finally:
        await opened.close()


@pytest.fixture(params=["qdrant_edge"])
async def vectors(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VectorStore]:
    """Opened on an empty collection."""
    assert request.param == "qdrant_edge"
    made = QdrantEdgeVectorStore(tmp_path / "vectors")
    try:
        await made.open(COLLECTION)
        yield made
    finally:
        await made.close()


@pytest.fixture(params=["obstore_folder"])
async def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BlobStore]:
    assert request.param == "obstore_folder"
    made = ObstoreBlobStore(tmp_path / "blobs")
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
def graph_upkeep(graph: GraphStore) -> GraphUpkeep:
    """Of the same store."""
    assert isinstance(graph, SqliteGraphStore)
    return SqliteGraphUpkeep(graph)


@pytest.fixture
def vector_upkeep(vectors: VectorStore) -> VectorUpkeep:
    """Of the same store."""
    assert isinstance(vectors, QdrantEdgeVectorStore)
    return vectors


@pytest.fixture(params=["sql_queue"])
async def bus(request: pytest.FixtureRequest, catalog: Catalog) -> AsyncIterator[MessageBus]:
    """Rings and hears."""
    assert request.param == "sql_queue"
    made = SqlQueueBus(catalog)
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
async def unopened_collections(tmp_path: Path) -> AsyncIterator[AnyCollections]:
    made = EdgeCollections(tmp_path)
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
def kept_collections(unopened_collections: AnyCollections, tmp_path: Path) -> KeptCollections:
    assert isinstance(unopened_collections, EdgeCollections)

    async def names() -> list[str]:
        return os.listdir(tmp_path)  # noqa: PTH208 names are all that is asked

    async def leave_behind(name: str) -> None:
        (tmp_path / name).mkdir()

    return KeptCollections(names, leave_behind)
