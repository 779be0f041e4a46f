"""Repairing: a change like any other, looked at again under the lease, so that it is ordered with writes.

A repair of a document brings graph and vectors to what its parts and change sets say: what is missing or
changed is written again, what nothing knows of is removed, and its points are hidden or shown as the catalog
has it. A repair of a dataset removes what belongs to no live document or hangs on nothing, and counts the terms
again. Nothing is extracted or embedded anew. Source: writes §7.
"""

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np

from dormouse import telemetry
from dormouse.access.writer import writer_scope
from dormouse.audit.documents import documents_of
from dormouse.audit.held import HeldReader
from dormouse.audit.judge import Held, judge
from dormouse.audit.truth import Truth, TruthReader, counted_in, lacking, terms_of
from dormouse.codec.change_set import ChangeSet, TermDelta, decode_change_set
from dormouse.errors import NotFoundError, StoreUnavailableError
from dormouse.ids import DocumentId, PassageId, TermId, VersionId
from dormouse.jobs.fenced_call import FencedCalls, fence_of
from dormouse.model.change import ApplyLease, Change, Erasure
from dormouse.model.document import Document
from dormouse.model.entity import Entity, Mention, Relation
from dormouse.model.interval import Interval
from dormouse.model.job import JobCounts
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage, Point
from dormouse.model.scope import Fence, Scope
from dormouse.ports.bundle import Ports
from dormouse.ports.graph_store import GraphRows

POINTS_AT_ONCE = 256
ROUNDING = 2e-3  # half precision, and made of length one again


class Repairer:
    def __init__(self, ports: Ports, calls: FencedCalls) -> None:
        self._catalog, self._blobs = ports.catalog, ports.blobs
        self._graph, self._graph_upkeep = ports.graph, ports.graph_upkeep
        self._vectors, self._vector_upkeep = ports.vectors, ports.vector_upkeep
        self._calls = calls
        self._held, self._truth = HeldReader(ports), TruthReader(ports.catalog, ports.blobs)

    async def plan(self, change: Change) -> ChangeSet:
        """How the term counts must move; everything else is found when it is carried out."""
        moved = TermDelta(change.dataset, change.generation)
        if change.document is None and await self._is_last(change):
            moved = await self._recount(change, moved)
        return ChangeSet(
            seq=change.seq,
            kind=change.kind,
            rows=GraphRows(),
            erasure=None,
            terms=TermDelta(change.dataset, change.generation),
            retired=moved,
            counts=JobCounts(),
        )

    async def repair(self, lease: ApplyLease, change: Change, change_set: ChangeSet) -> None:
        """Raises `LeaseLostError` and `StoreUnavailableError`; repeating it changes nothing."""
        if change.document is not None:
            await self._repair_document(lease, change, change.document)
            return
        if await self._is_last(change):
            await self._remove_leftovers(lease, change)
        if change_set.retired.terms or change_set.retired.passages:
            telemetry.drift_repaired("terms_wrong")

    async def _is_last(self, change: Change) -> bool:
        """Nothing of the dataset waits behind it: a forget that does takes its share out itself."""
        async with self._catalog.reading() as tx:
            return (await tx.past.standing(change.dataset)).unapplied <= 1

    async def _recount(self, change: Change, moved: TermDelta) -> TermDelta:
        expected: Counter[int] = Counter()
        passages = 0
        async for document in documents_of(self._catalog, change.dataset):
            truth = await self._truth.of(document)
            if not truth.is_whole:
                return moved  # a count without what is lost would be another wrong one
            expected.update(terms_of(truth))
            passages += counted_in(truth)
        total, stored = await self._held.terms(change.dataset)
        deltas = {TermId(term): delta for term, delta in lacking(expected, stored).items()}
        return replace(moved, passages=passages - total, terms=deltas)

    async def _repair_document(self, lease: ApplyLease, change: Change, id_: DocumentId) -> None:
        async with self._catalog.reading() as tx:
            document = await tx.documents.get(id_)
        if document is None or (document.has_no_memory and not await self._is_last(change)):
            return  # forgotten meanwhile: its erasure sees to it
        scope = writer_scope(change.workspace, change.dataset)
        truth = await self._truth.of(document)
        held = await self._held.of(scope, document)
        found = judge(truth, held)
        rows = await self._rows(document, truth)
        await self._write(lease, change, truth, rows)
        if truth.is_whole:
            await self._drop(lease, change, truth, held)
        for each in found:
            if each.drift.is_repairable:
                telemetry.drift_repaired(each.drift.value, each.count)

    async def _write(self, lease: ApplyLease, change: Change, truth: Truth, rows: GraphRows) -> None:
        """Vectors first, as applying does."""
        scope, fence = writer_scope(change.workspace, change.dataset), fence_of(lease, change.seq)
        await self._upsert(lease, scope, fence, await self._wrong_points(scope, truth, rows))
        if wrong := await self._wrong_points(scope, truth, rows):
            # The store never replaces what says that a later change wrote it.
            stale = [each.passage for each in wrong]
            await self._calls.erase(lease, "vector", lambda: self._vector_upkeep.drop(scope, fence, stale))
            await self._upsert(lease, scope, fence, wrong)
        await self._calls.write(lease, "graph", lambda: self._graph.write(scope, fence, rows))
        what, is_hidden = Erasure(change.dataset, change.document), truth.hiding.is_applied
        await self._calls.write(
            lease, "vector", lambda: self._vector_upkeep.hide(scope, fence, what, is_hidden=is_hidden)
        )

    async def _upsert(self, lease: ApplyLease, scope: Scope, fence: Fence, points: list[Point]) -> None:
        for start in range(0, len(points), POINTS_AT_ONCE):
            some = points[start : start + POINTS_AT_ONCE]
            await self._calls.write(lease, "vector", partial(self._vectors.upsert, scope, fence, some))

    async def _wrong_points(self, scope: Scope, truth: Truth, rows: GraphRows) -> list[Point]:
        """Those that are missing, or not as they would be written now."""
        wrong: list[Point] = []
        is_hidden = truth.hiding.is_applied
        for start in range(0, len(rows.passages), POINTS_AT_ONCE):
            some = rows.passages[start : start + POINTS_AT_ONCE]
            found = await self._vector_upkeep.points(scope, [each.id for each in some])
            stored = {each.passage: each for each in found}
            points = [Point.of(each, truth.vectors[each.id], is_hidden=is_hidden) for each in some]
            wrong += [
                each
                for each in points
                if each.passage not in stored or not _is_same(each, stored[each.passage])
            ]
        return wrong

    async def _drop(self, lease: ApplyLease, change: Change, truth: Truth, held: Held) -> None:
        scope, fence = writer_scope(change.workspace, change.dataset), fence_of(lease, change.seq)
        passages = held.passages.keys() - truth.passages.keys()
        points = held.marks.keys() - truth.passages.keys()
        if passages:
            await self._calls.erase(lease, "graph", lambda: self._graph_upkeep.drop(scope, fence, passages))
        if points:
            await self._calls.erase(lease, "vector", lambda: self._vector_upkeep.drop(scope, fence, points))

    async def _remove_leftovers(self, lease: ApplyLease, change: Change) -> None:
        """Rows of documents that are not live. The graph's strays go with its drop, whatever it is given."""
        scope, fence = writer_scope(change.workspace, change.dataset), fence_of(lease, change.seq)
        live = {each.id async for each in documents_of(self._catalog, change.dataset)}
        passages = [each.id async for each in self._held.passages(scope) if each.document not in live]
        points = [each.passage async for each in self._held.marks(scope) if each.document not in live]
        strays = await self._graph_upkeep.strays(scope)
        if passages or strays:
            await self._calls.erase(lease, "graph", lambda: self._graph_upkeep.drop(scope, fence, passages))
        if points:
            await self._calls.erase(lease, "vector", lambda: self._vector_upkeep.drop(scope, fence, points))
        for drift, count in (("leftover", len({*passages, *points})), ("graph_stray", strays)):
            if count:
                telemetry.drift_repaired(drift, count)

    async def _rows(self, document: Document, truth: Truth) -> GraphRows:
        """What the document's change sets wrote in all, as far as its passages are still known."""
        merged = _Merged()
        async with self._catalog.reading() as tx:
            changes = await tx.past.applied_to(document.id)
        for change in changes:
            assert change.change_set is not None
            try:
                change_set = decode_change_set(await self._blobs.get(change.change_set))
            except (NotFoundError, StoreUnavailableError):
                continue  # an audit names it; its passages are written from the parts
            merged.add(change_set.rows)
            if change_set.erasure is not None and change_set.hides is None:
                merged.erase(change_set.erasure)
        return merged.rows(truth)


class _Merged:
    """Rows of one change after the other: later ones replace earlier ones, and close them."""

    def __init__(self) -> None:
        self._passages: dict[PassageId, Passage] = {}
        self._versions: dict[VersionId, MemoryVersion] = {}
        self._entities: dict[str, Entity] = {}
        self._mentions: dict[Mention, None] = {}
        self._relations: dict[Relation, None] = {}

    def add(self, rows: GraphRows) -> None:
        self._passages.update((each.id, each) for each in rows.passages)
        self._entities.update((each.id, each) for each in rows.entities)
        self._mentions.update((each, None) for each in rows.mentions)
        self._relations.update((each, None) for each in rows.relations)
        self._versions.update((each.id, each) for each in rows.versions)
        for id_, at_ms in rows.closed.items():
            version = self._versions.get(VersionId(id_))
            if version is not None:
                start_ms = version.transaction.start_ms
                ended = Interval(start_ms, max(at_ms, start_ms + 1))
                self._versions[version.id] = replace(version, transaction=ended)

    def erase(self, what: Erasure) -> None:
        """As the graph did: what comes back later must not bring along what it once had."""
        gone = {each.id for each in self._passages.values() if _goes(each, what)}
        for id_ in gone:
            del self._passages[id_]
        self._versions = {id_: each for id_, each in self._versions.items() if each.passage not in gone}
        self._mentions = {each: None for each in self._mentions if each.passage not in gone}
        self._relations = {each: None for each in self._relations if each.passage not in gone}

    def rows(self, truth: Truth) -> GraphRows:
        """A passage whose change set is lost is taken as its part has it."""
        known = truth.passages.keys()
        mentions = tuple(each for each in self._mentions if each.passage in known)
        versions = tuple(each for each in self._versions.values() if each.passage in known)
        relations = tuple(each for each in self._relations if each.passage in known)
        mentioned = {each.entity for each in mentions} | {one for each in versions for one in each.entities}
        mentioned |= {one for each in relations for one in (each.source, each.target)}
        return GraphRows(
            passages=tuple(self._passages.get(id_, passage) for id_, passage in truth.passages.items()),
            entities=tuple(each for each in self._entities.values() if each.id in mentioned),
            mentions=mentions,
            versions=versions,
            relations=relations,
        )


def _goes(passage: Passage, what: Erasure) -> bool:
    if what.last_revision_below is not None:
        return passage.last_revision < what.last_revision_below
    return what.first_revision is not None and passage.first_revision == what.first_revision


def _is_same(point: Point, stored: Point) -> bool:
    """But for rounding, which the store does."""
    vectors, kept = point.vectors, stored.vectors
    return (
        replace(point, vectors=kept) == stored
        and vectors.tokens == kept.tokens
        and vectors.terms.keys() == kept.terms.keys()
        and vectors.window_terms.keys() == kept.window_terms.keys()
        and np.allclose(vectors.dense, kept.dense, atol=ROUNDING)
    )
