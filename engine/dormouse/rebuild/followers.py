"""The two stores that can be made anew, each following the applied changes with the numbers they had.

Rows keep their `seq`, so that following a change twice changes nothing. Retired passages and failed
revisions go the way they went: their erasures are followed too.
"""

from typing import Protocol

from dormouse.access.writer import writer_scope
from dormouse.errors import StoreUnavailableError
from dormouse.ids import WorkspaceId
from dormouse.jobs.fenced_call import FencedCalls, fence_of
from dormouse.model.change import ApplyLease
from dormouse.model.passage import Point
from dormouse.model.workspace import Collection
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.ports.embedder import Embedders
from dormouse.ports.graph_store import GraphRenewal, GraphRows, GraphStore
from dormouse.ports.vector_collections import VectorCollections, WholeVectors
from dormouse.rebuild.contents import Contents, LostContentsError
from dormouse.rebuild.parts import ModelParts


class Follower(Protocol):
    @property
    def holds_changes(self) -> bool:
        """Whether nothing new may be applied until it is done."""
        ...

    async def begin(self, lease: ApplyLease) -> None:
        """With an empty store."""
        ...

    async def follow(self, lease: ApplyLease, contents: Contents) -> None:
        """Raises `LostContentsError`, `LeaseLostError` and `UnavailableError`."""
        ...

    async def prepare(self) -> None:
        """Whatever has to be done before the catalog says that the new store is the one."""
        ...

    async def settle(self, tx: CatalogTransaction, workspace: WorkspaceId) -> None:
        """What the catalog is to say from now on."""
        ...

    async def finish(self) -> None:
        """After that commit; a crash in between is made good by the next start."""
        ...


class GraphFollower:
    holds_changes = True

    def __init__(self, graph: GraphStore, renewal: GraphRenewal, calls: FencedCalls) -> None:
        self._graph = graph
        self._renewal = renewal
        self._calls = calls

    async def begin(self, lease: ApplyLease) -> None:
        await self._renewal.renew()
        await self._calls.write(lease, "graph", lambda: self._graph.adopt(lease.workspace, lease.epoch))

    async def follow(self, lease: ApplyLease, contents: Contents) -> None:
        change, change_set = contents.change, contents.change_set
        scope, fence = writer_scope(change.workspace, change.dataset), fence_of(lease, change.seq)
        if change_set.rows != GraphRows():
            await self._calls.write(lease, "graph", lambda: self._graph.write(scope, fence, change_set.rows))
        if (erasure := change_set.erasure) is not None and change_set.hides is None:
            await self._calls.erase(
                lease, "graph", lambda: self._graph.erase(scope, fence, erasure, is_forgetting=False)
            )

    async def prepare(self) -> None:
        await self._renewal.complete()

    async def settle(self, tx: CatalogTransaction, workspace: WorkspaceId) -> None:
        """Nothing names the graph."""

    async def finish(self) -> None:
        """It answers already."""


class VectorFollower:
    holds_changes = False

    def __init__(
        self,
        catalog: Catalog,
        parts: ModelParts,
        collections: VectorCollections,
        embedders: Embedders,
        calls: FencedCalls,
    ) -> None:
        self._catalog = catalog
        self._parts = parts
        self._collections = collections
        self._embedders = embedders
        self._calls = calls
        self._model = ""

    async def begin(self, lease: ApplyLease) -> None:
        """It may be given up at any moment; then nothing of it is left, and what answers is not touched."""
        wanted = await self._building(lease.workspace)
        if wanted is None:
            return
        await self._collections.build(wanted)
        if await self._building(lease.workspace) != wanted:
            await self._collections.abandon()

    async def follow(self, lease: ApplyLease, contents: Contents) -> None:
        change, change_set = contents.change, contents.change_set
        model, store = await self._followed(change.workspace)
        scope, fence = writer_scope(change.workspace, change.dataset), fence_of(lease, change.seq)
        if change_set.rows.passages:
            points = await self._points(contents, model)
            await self._calls.write(lease, "vector", lambda: store.upsert(scope, fence, points))
        if (what := change_set.erasure) is None:
            return
        if (hides := change_set.hides) is not None:
            await self._calls.write(lease, "vector", lambda: store.hide(scope, fence, what, is_hidden=hides))
            return
        await self._calls.erase(lease, "vector", lambda: store.erase(scope, fence, what, is_forgetting=False))

    async def prepare(self) -> None:
        """Nothing before the commit: the former collection answers until then."""

    async def settle(self, tx: CatalogTransaction, workspace: WorkspaceId) -> None:
        """The term statistics are counted again from what is stored, in the commit that switches."""
        building = (await tx.workspaces.get(workspace)).building
        if building is None:
            return
        everything = writer_scope(workspace, *await tx.datasets.of_workspace(workspace))
        await tx.terms.replace(workspace, await self._collections.tally(everything))
        self._model = building.model
        await tx.workspaces.activate(workspace, building)

    async def finish(self) -> None:
        """Model and collection at once: nothing is awaited between, so no query meets the other's vectors."""
        if self._collections.building is not None:
            self._embedders.use(self._model)
            await self._collections.switch()

    async def _points(self, contents: Contents, model: str) -> list[Point]:
        change, change_set = contents.change, contents.change_set
        if change.blob is None:
            return []
        part = await self._parts.part(change.blob, model)
        try:
            return part.points(change_set.rows.passages, is_hidden=change_set.is_hidden)
        except KeyError as exc:
            raise LostContentsError from exc

    async def _followed(self, workspace: WorkspaceId) -> tuple[str, WholeVectors]:
        """The collection that is being built and its model; after an unclean start, those that answer.

        Never the one with the other's model: a build that is given up goes while its follower is at work.
        """
        async with self._catalog.reading() as tx:
            row = await tx.workspaces.get(workspace)
        if row.building is None:
            assert row.collection is not None, "every workspace has one before anything is applied"
            return row.collection.model, self._collections.active
        if self._collections.building is None:
            raise StoreUnavailableError(port="vector")
        return row.building.model, self._collections.building

    async def _building(self, workspace: WorkspaceId) -> Collection | None:
        async with self._catalog.reading() as tx:
            return (await tx.workspaces.get(workspace)).building
