"""Bringing the stores to say what was accepted last: hidden, or shown again exactly as before.

A hidden passage stays where it is. Its point is laid where no arm of a search looks, by a filter, and what it
adds to the term statistics is taken out. Restoring is the same in reverse, so nothing is computed or written
anew. The graph needs no flag: whatever it gives is checked against the catalog before anybody sees it.
Source: writes §3 and §5.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from dormouse.access.writer import writer_scope
from dormouse.codec.change_set import ChangeSet, TermDelta
from dormouse.jobs.fenced_call import FencedCalls, fence_of
from dormouse.model.change import ApplyLease, Change, Erasure
from dormouse.model.job import JobCounts
from dormouse.model.passage import Passage
from dormouse.ports.catalog.hidden import Hiding
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.graph_store import GraphRows, GraphStore
from dormouse.ports.vector_upkeep import VectorUpkeep

ALL_OF_A_DOCUMENT = 1_000_000  # passages; the limit of content bounds it long before

Share = Callable[[Change, Sequence[Passage]], Awaitable[TermDelta]]


class Hider:
    """`share` tells what some passages take from the term statistics when they go (apply knows)."""

    def __init__(
        self, catalog: Catalog, graph: GraphStore, vectors: VectorUpkeep, calls: FencedCalls, share: Share
    ) -> None:
        self._catalog = catalog
        self._graph = graph
        self._vectors = vectors
        self._calls = calls
        self._share = share

    async def plan(self, change: Change) -> ChangeSet:
        """What is left to do; nothing if a later acceptance or a forget made it pointless."""
        hiding = await self._hiding(change)
        if hiding.is_active == hiding.is_applied:
            return _change_set(change, None, TermDelta(change.dataset, change.generation))
        scope = writer_scope(change.workspace, change.dataset)
        passages = await self._graph.matching(scope, _all_of(change), limit=ALL_OF_A_DOCUMENT)
        share = await self._share(change, passages)
        return _change_set(change, hiding.is_active, share if hiding.is_active else negated(share))

    async def hide(self, lease: ApplyLease, change: Change, change_set: ChangeSet) -> None:
        """Raises `LeaseLostError` and `StoreUnavailableError`; repeating it changes nothing."""
        if change_set.hides is not None:
            await self._move(lease, change, is_hidden=change_set.hides)

    async def again(self, lease: ApplyLease, change: Change) -> None:
        """After a takeover: a late upsert may have written points as they were before."""
        await self._move(lease, change, is_hidden=(await self._hiding(change)).is_applied)

    async def _move(self, lease: ApplyLease, change: Change, *, is_hidden: bool) -> None:
        scope, fence = writer_scope(change.workspace, change.dataset), fence_of(lease, change.seq)
        await self._calls.write(
            lease, "vector", lambda: self._vectors.hide(scope, fence, _all_of(change), is_hidden=is_hidden)
        )

    async def _hiding(self, change: Change) -> Hiding:
        """Of a document that is still there."""
        assert change.document is not None
        async with self._catalog.reading() as tx:
            is_live = await tx.documents.get(change.document) is not None
            return await tx.hidden.of(change.document) if is_live else Hiding()


def negated(delta: TermDelta) -> TermDelta:
    return replace(delta, passages=-delta.passages, terms={term: -count for term, count in delta.terms.items()})


def _all_of(change: Change) -> Erasure:
    return Erasure(change.dataset, change.document)


def _change_set(change: Change, hides: bool | None, moved: TermDelta) -> ChangeSet:  # noqa: FBT001 - three values
    return ChangeSet(
        seq=change.seq,
        kind=change.kind,
        rows=GraphRows(),
        erasure=None if hides is None else _all_of(change),
        terms=TermDelta(change.dataset, change.generation),
        retired=moved,
        counts=JobCounts(),
        hides=hides,
    )
