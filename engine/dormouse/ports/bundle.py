"""Every port a running engine needs, opened together and closed together."""

from collections.abc import Callable
from dataclasses import dataclass

from dormouse.clock import Clock
from dormouse.model.health import LanguageModelUse
from dormouse.ports.answerer import Answerer
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.document_reader import DocumentReader
from dormouse.ports.embedder import Embedder, Embedders
from dormouse.ports.extractor import Extractor, WindowExtractor
from dormouse.ports.graph_store import GraphRenewal, GraphStore
from dormouse.ports.graph_upkeep import GraphUpkeep
from dormouse.ports.message_bus import MessageBus
from dormouse.ports.ontology_reader import OntologyReader
from dormouse.ports.vector_collections import VectorCollections
from dormouse.ports.vector_store import VectorStore
from dormouse.ports.vector_upkeep import VectorUpkeep
from dormouse.ports.workspace_directory import WorkspaceDirectory


@dataclass(frozen=True, slots=True)
class Ports:
    """`renewal` and `collections` are the care of what `graph` and `vectors` use; `deriver` is None where no
    language model derives memories, and `language_model` tells which one is asked. `free_bytes` is the room
    left on the disk of everything, None where it lies on servers."""

    catalog: Catalog
    graph: GraphStore
    graph_upkeep: GraphUpkeep
    vectors: VectorStore
    vector_upkeep: VectorUpkeep
    renewal: GraphRenewal
    collections: VectorCollections
    blobs: BlobStore
    bus: MessageBus
    embedders: Embedders
    extractor: Extractor
    answerer: Answerer
    reader: DocumentReader
    ontology_reader: OntologyReader
    directory: WorkspaceDirectory
    clock: Clock
    deriver: WindowExtractor | None = None
    language_model: Callable[[], LanguageModelUse | None] = lambda: None
    free_bytes: Callable[[], int | None] = lambda: None

    @property
    def embedder(self) -> Embedder:
        """The active one, now."""
        return self.embedders.active
