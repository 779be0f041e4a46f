"""What a change will do, decided once: dropped as out of date, or a change set that every repeat follows.

Nothing here touches a store but to read the graph. Source: writes §3, steps 1 and 2.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace

from dormouse import telemetry
from dormouse.access.writer import writer_scope
from dormouse.apply.counted import CountedTerms, added
from dormouse.apply.enrich import OPEN_MS, EnrichingDecider, stands_derived
from dormouse.apply.reconcile import Occasion, Reconciled, reconcile
from dormouse.apply.resolve import Resolution, resolve
from dormouse.codec.change_set import ChangeSet, TermDelta, decode_change_set, encode_change_set
from dormouse.codec.part import Part, decode_part
from dormouse.ids import BlobKey, PassageId
from dormouse.jobs.progress import end_overtaken, out_of_date
from dormouse.jobs.transition import moved
from dormouse.model.change import ApplyLease, Change, ChangeKind, Erasure
from dormouse.model.document import Document
from dormouse.model.job import Job, JobCounts, Stage
from dormouse.model.memory import MemoryKind
from dormouse.model.passage import Passage
from dormouse.model.scope import Scope
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.ports.graph_store import GraphRows, GraphStore, MemoryQuery

FORGETS_AT_ONCE = 200
ALL_OF_A_DOCUMENT = 1_000_000  # passages; the limit of content bounds it long before

Plan = Callable[[Change], Awaitable[ChangeSet]]


class Decider:
    """`plan_other` decides for every kind but UPSERT."""

    def __init__(
        self,
        catalog: Catalog,
        graph: GraphStore,
        blobs: BlobStore,
        counted: CountedTerms,
        plan_other: Plan,
    ) -> None:
        self._catalog = catalog
        self._graph = graph
        self._blobs = blobs
        self._counted = counted
        self._plan_other = plan_other
        self._enriching = EnrichingDecider(catalog, graph, blobs)

    async def decide(self, lease: ApplyLease, change: Change) -> ChangeSet | None:
        """The named change set, named now if it was not; None when the change was dropped."""
        if change.change_set is not None:
            return decode_change_set(await self._blobs.get(change.change_set))
        if change.kind.adds and await self._drop(lease, change):
            return None
        change_set = await self._decided(change)
        blob = await self._blobs.put(change.workspace, change.job, encode_change_set(change_set))
        await self._catalog.write(lambda tx: _name(tx, lease, change, blob))
        return change_set

    async def _decided(self, change: Change) -> ChangeSet:
        if change.kind is ChangeKind.UPSERT:
            return await self._upsert(change)
        if change.kind is ChangeKind.ENRICH:
            return await self._enriching.decide(change)
        return await self._plan_other(change)

    async def _drop(self, lease: ApplyLease, change: Change) -> bool:
        """Whether the change is out of date; it is marked applied and its job cancelled then."""
        return await self._catalog.write(lambda tx: _dropped(tx, lease, change))

    async def _upsert(self, change: Change) -> ChangeSet:
        assert change.document is not None
        assert change.blob is not None
        part = decode_part(await self._blobs.get(change.blob))
        document, job, is_hidden = await self._catalog.read(lambda tx: _standing(tx, change))
        scope = writer_scope(change.workspace, change.dataset)
        known = await self._graph.passages(scope, [each.id for each in part.passages])
        forgotten_before = document.memory_from if document else 0  # its erasure may have had to wait
        present = {each.id: each for each in known if each.last_revision >= forgotten_before}
        overdue = [each for each in known if each.id not in present]  # its erasure will not meet them any more
        resolution = resolve(change.dataset, part.extractions)
        reconciled = await self._reconcile(scope, part, present, resolution, job)
        searchable = document.searchable_revision if document else 0
        erasure, doomed = await self._retirement(scope, change, part)
        new = frozenset(each.id for each in part.passages if each.id not in present)
        return ChangeSet(
            seq=change.seq,
            kind=change.kind,
            rows=GraphRows(
                passages=tuple(_placed(each, present.get(each.id), searchable) for each in part.passages),
                entities=resolution.entities,
                mentions=resolution.mentions,
                relations=resolution.relations,
                versions=reconciled.versions,
                closed=reconciled.closed,
            ),
            erasure=erasure,
            terms=_added_terms(change, part, frozenset() if is_hidden else new),
            retired=await self._retired(change, [*doomed, *overdue]),
            counts=_counts(part, resolution),
            is_hidden=is_hidden,
        )

    async def _reconcile(
        self,
        scope: Scope,
        part: Part,
        present: dict[PassageId, Passage],
        resolution: Resolution,
        job: Job,
    ) -> Reconciled:
        query = MemoryQuery(passages=list(present), known_at_ms=OPEN_MS)
        believed = await self._graph.memories(scope, query) if present else ()
        kept = stands_derived(part.passages, present, believed)
        found = [each for each in zip(part.passages, part.extractions, strict=True) if each[0].id not in kept]
        believed = [each for each in believed if each.passage not in kept]
        return reconcile(found, believed, resolution, Occasion(job.accepted_ms, job.revision))

    async def _retirement(
        self, scope: Scope, change: Change, part: Part
    ) -> tuple[Erasure | None, list[Passage]]:
        """An update's last part retires what only older revisions had."""
        if not change.is_last_part or change.revision == 1 or change.document is None:
            return None, []
        kept = {each.id for each in part.passages}
        erasure = Erasure(change.dataset, change.document, last_revision_below=change.revision)
        matching = await self._graph.matching(scope, erasure, limit=ALL_OF_A_DOCUMENT)
        doomed = [each for each in matching if each.id not in kept]
        return (erasure if doomed else None), doomed  # erasing also rewrites files: not for nothing

    async def _retired(self, change: Change, passages: list[Passage]) -> TermDelta:
        """What these take out of the counts, but for those that an erasure behind this change takes out itself:
        it counted them before it had to wait."""
        if passages:
            below = await self._catalog.read(lambda tx: _counted_below(tx, change))
            passages = [each for each in passages if each.last_revision >= below]
        if not passages:
            return TermDelta(change.dataset, change.generation)
        return await self._counted.removal(change, passages)


async def _standing(tx: CatalogTransaction, change: Change) -> tuple[Document | None, Job, bool]:
    """The change's document and job, and whether it is hidden as the changes before this one left it: what was
    accepted since is applied behind it."""
    assert change.document is not None
    is_hidden = (await tx.hidden.of(change.document)).is_applied
    return await tx.documents.get(change.document), await tx.jobs.get(change.job), is_hidden


async def _counted_below(tx: CatalogTransaction, change: Change) -> int:
    """The revision below which planned erasures that wait behind have counted the document's passages."""
    below, after_seq = 0, change.seq
    while page := await tx.changes.waiting_forgets(change.workspace, after_seq, FORGETS_AT_ONCE):
        for each in page:
            if each.kind is ChangeKind.ERASE_MEMORY and each.document == change.document and each.change_set:
                below = max(below, each.revision)
        after_seq = page[-1].seq
    return below


async def _name(tx: CatalogTransaction, lease: ApplyLease, change: Change, blob: BlobKey) -> None:
    await tx.changes.lock(change.workspace)
    await tx.changes.name_change_set(lease, change.seq, blob)
    job = await tx.jobs.get(change.job)
    if not job.kind.is_extracted and job.stage is Stage.ACCEPTED:
        await tx.jobs.save(moved(job, Stage.APPLYING, tx.now_ms))
    await tx.commit()


async def _dropped(tx: CatalogTransaction, lease: ApplyLease, change: Change) -> bool:
    await tx.changes.lock(change.workspace)
    job = await tx.jobs.get(change.job)
    reason = None if job.stage.is_final else await out_of_date(tx, job)
    if not job.stage.is_final and reason is None:
        return False
    if reason is not None:
        ended = await end_overtaken(tx, job, reason)
        is_complete = ended.stage is Stage.COMPLETE
        telemetry.job_reached("complete" if is_complete else "cancelled", (tx.now_ms - job.accepted_ms) / 1000)
    await tx.changes.mark_applied(lease, change.seq)
    await tx.commit()
    return True


def _added_terms(change: Change, part: Part, new: frozenset[PassageId]) -> TermDelta:
    return TermDelta(change.dataset, change.generation, len(new), dict(added(part, new)))


def _placed(passage: Passage, present: Passage | None, searchable: int) -> Passage:
    """With the revision it first came with: an unfinished revision's rows must not take it with them."""
    if present is None:
        return passage
    is_kept = present.first_revision <= searchable or present.first_revision == passage.first_revision
    return replace(passage, first_revision=present.first_revision) if is_kept else passage


def _counts(part: Part, resolution: Resolution) -> JobCounts:
    kinds = Counter(memory.kind for each in part.extractions for memory in each.memories)
    return JobCounts(
        parts_applied=1,
        done=len(part.passages),
        unchanged=part.unchanged,
        facts=kinds[MemoryKind.FACT],
        episodes=kinds[MemoryKind.EPISODE],
        foresights=kinds[MemoryKind.FORESIGHT],
        entities=len(resolution.entities),
    )
