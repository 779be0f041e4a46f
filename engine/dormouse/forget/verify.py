"""Reading back after a forget: nothing of it may be found anywhere before it is called complete.

Source: writes §5.
"""

from collections.abc import Collection

from dormouse.access.writer import writer_scope
from dormouse.errors import Port
from dormouse.ids import JobId
from dormouse.model.change import Change, Erasure
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.graph_store import GraphStore
from dormouse.ports.vector_store import VectorStore

FEW_JOBS = 50


class ResidueError(Exception):
    """Something of what was erased is still there: the erasure is repeated, never called done."""

    def __init__(self, port: Port) -> None:
        super().__init__(f"the {port} store still holds what was forgotten")
        self.port = port


class Verifier:
    def __init__(self, graph: GraphStore, vectors: VectorStore, blobs: BlobStore) -> None:
        self._graph = graph
        self._vectors = vectors
        self._blobs = blobs

    async def verify(self, change: Change, what: Erasure, jobs: Collection[JobId]) -> None:
        """`jobs` are those whose blobs were erased. Raises `ResidueError`."""
        scope = writer_scope(change.workspace, change.dataset)
        graph = await self._graph.count(scope, what)
        if graph.passages or graph.versions:
            raise ResidueError("graph")
        if await self._vectors.count(scope, what):
            raise ResidueError("vector")
        if jobs and await self._has_blobs(change, frozenset(jobs)):
            raise ResidueError("blob")

    async def _has_blobs(self, change: Change, jobs: frozenset[JobId]) -> bool:
        """Few jobs are looked at one by one; for many, one listing of the workspace costs less."""
        prefixes: Collection[JobId | None] = jobs if len(jobs) <= FEW_JOBS else (None,)
        for prefix in prefixes:
            async for blob in self._blobs.list(change.workspace, prefix):
                if blob.key.split("/")[1] in jobs:
                    return True
        return False
