"""Erasing what was forgotten: graph, vectors, blobs, then the catalog's rows; and reading it all back.

Every step is a filter and may be repeated. Nothing is called erased before it was looked for and not found.
Source: writes §3 and §5.
"""

from collections.abc import Awaitable, Callable, Sequence

from dormouse.access.writer import writer_scope
from dormouse.codec.change_set import ChangeSet, TermDelta
from dormouse.forget.derived import DerivedEraser
from dormouse.forget.plan import erasure_of, plan
from dormouse.forget.verify import Verifier
from dormouse.ids import JobId
from dormouse.jobs.fenced_call import FencedCalls, fence_of
from dormouse.model.change import ApplyLease, Change, ChangeKind, Erasure
from dormouse.model.passage import Passage
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.ports.graph_store import GraphStore
from dormouse.ports.vector_store import VectorStore

MOST_AT_ONCE = 200  # forgets that one cleaning serves
ALL_OF_A_DOCUMENT = 1_000_000  # passages; the limit of content bounds it long before

CountedTerms = Callable[[Change, Sequence[Passage]], Awaitable[TermDelta]]


class Eraser:
    """`counted` tells what the term statistics hold of some passages (apply knows)."""

    def __init__(
        self,
        catalog: Catalog,
        graph: GraphStore,
        vectors: VectorStore,
        blobs: BlobStore,
        calls: FencedCalls,
        counted: CountedTerms,
    ) -> None:
        self._catalog = catalog
        self._graph = graph
        self._vectors = vectors
        self._blobs = blobs
        self._calls = calls
        self._counted = counted
        self._verifier = Verifier(graph, vectors, blobs)
        self._derived = DerivedEraser(catalog, blobs)

    async def plan(self, change: Change) -> ChangeSet:
        """The change set of an erasure; a dataset's statistics go as a whole, so nothing is counted there."""
        what = erasure_of(change)
        scope = writer_scope(change.workspace, change.dataset)
        if change.kind is ChangeKind.ERASE_DATASET:
            counts = await self._graph.count(scope, what)
            return plan(change, counts.passages, TermDelta(change.dataset, change.generation))
        doomed = await self._graph.matching(scope, what, limit=ALL_OF_A_DOCUMENT)
        return plan(change, len(doomed), await self._counted(change, doomed))

    async def erase(self, lease: ApplyLease, change: Change, change_set: ChangeSet) -> None:
        """Everywhere, read back. Raises `LeaseLostError`, `UnavailableError` and `ResidueError`."""
        what = change_set.erasure or erasure_of(change)
        await self._erase_stores(lease, change, what)
        if change.kind is ChangeKind.ERASE_REVISION:
            await self._verifier.verify(change, what, ())
            return
        if change.kind is ChangeKind.ERASE_MEMORY:
            await self._derived.erase(lease, change)
            await self._verifier.verify(change, what, ())
            return
        jobs = await self._jobs(change)
        for job in jobs:
            await self._blobs.erase_job(change.workspace, job)
        await self._erase_rows(lease, change)
        await self._catalog.scrub()
        await self._verifier.verify(change, what, jobs)

    async def clear(self, change: Change) -> None:
        """After a forget of whole items was settled: its change set held hashes of terms, which go too.

        Of an item that stays, a rebuild still follows it.
        """
        if change.kind not in (ChangeKind.ERASE_REVISION, ChangeKind.ERASE_MEMORY):
            await self._blobs.erase_job(change.workspace, change.job)

    async def again(self, lease: ApplyLease, change: Change) -> None:
        """Repeat an applied erasure in the stores, after a takeover."""
        await self._erase_stores(lease, change, erasure_of(change))
        await self.clear(change)

    async def _erase_stores(self, lease: ApplyLease, change: Change, what: Erasure) -> None:
        scope, fence = writer_scope(change.workspace, change.dataset), fence_of(lease, change.seq)
        await self._calls.erase(lease, "graph", lambda: self._graph.erase(scope, fence, what))
        # Cleaning the vectors' files is most of what a forget costs: once for all that wait. They are hidden
        # already, so none can be missed; each still reads back for itself.
        waiting = await self._waiting(change)
        also = [erasure_of(each) for each in waiting]
        wider = writer_scope(change.workspace, change.dataset, *(each.dataset for each in waiting))
        await self._calls.erase(lease, "vector", lambda: self._vectors.erase(wider, fence, what, also=also))

    async def _waiting(self, change: Change) -> Sequence[Change]:
        async with self._catalog.reading() as tx:
            return await tx.changes.waiting_forgets(change.workspace, change.seq, MOST_AT_ONCE)

    async def _jobs(self, change: Change) -> Sequence[JobId]:
        """Whose blobs go: what erasing the rows would say, without erasing them yet.

        The rows are the only list of the blobs, so they must outlive them.
        """
        async with self._catalog.transaction() as tx:
            return await _erase_documents(tx, change)

    async def _erase_rows(self, lease: ApplyLease, change: Change) -> None:
        async with self._catalog.transaction() as tx:
            await tx.workspaces.assert_lease(lease)
            await _erase_documents(tx, change)
            # Once more: an answer under way when the forget was accepted may have been noted since.
            if change.document is not None:
                await tx.sessions.erase(document=change.document)
            await tx.commit()


async def _erase_documents(tx: CatalogTransaction, change: Change) -> Sequence[JobId]:
    below = change.generation if change.kind is ChangeKind.ERASE_DATASET else None
    return await tx.documents.erase(change.dataset, document=change.document, below_generation=below)
