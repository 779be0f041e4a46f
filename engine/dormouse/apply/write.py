"""Carrying out an upsert: vectors, then the graph, then what the update retired.

Vectors first: an orphan point is invisible, an orphan passage would be recalled. Retired passages leave the
graph first for the same reason. Every step may be repeated. Source: writes §3, step 3.
"""

from collections.abc import Awaitable, Callable

from dormouse.access.writer import writer_scope
from dormouse.codec.change_set import ChangeSet
from dormouse.codec.part import Part
from dormouse.jobs.fenced_call import FencedCalls, fence_of
from dormouse.model.change import ApplyLease, Change
from dormouse.ports.graph_store import GraphStore
from dormouse.ports.vector_store import VectorStore


class StoreWriter:
    """`part_of` gives a change's part with the vectors of the active model."""

    def __init__(
        self,
        graph: GraphStore,
        vectors: VectorStore,
        part_of: Callable[[Change], Awaitable[Part]],
        calls: FencedCalls,
    ) -> None:
        self._graph = graph
        self._vectors = vectors
        self._part_of = part_of
        self._calls = calls

    async def write(self, lease: ApplyLease, change: Change, change_set: ChangeSet) -> None:
        """Raises `LeaseLostError` and `StoreUnavailableError`; repeating it changes nothing."""
        part = await self._part_of(change)
        points = part.points(change_set.rows.passages, is_hidden=change_set.is_hidden)
        scope, fence = writer_scope(change.workspace, change.dataset), fence_of(lease, change.seq)
        await self._calls.write(lease, "vector", lambda: self._vectors.upsert(scope, fence, points))
        await self._calls.write(lease, "graph", lambda: self._graph.write(scope, fence, change_set.rows))
        retired = change_set.erasure
        if retired is not None:
            await self._calls.erase(
                lease, "graph", lambda: self._graph.erase(scope, fence, retired, is_forgetting=False)
            )
            await self._calls.erase(
                lease, "vector", lambda: self._vectors.erase(scope, fence, retired, is_forgetting=False)
            )
