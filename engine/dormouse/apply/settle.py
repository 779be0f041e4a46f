"""The transaction that makes a change applied: counts, terms, the job's progress and its next part, together.

Repeating it after a crash finds the change applied and does nothing. Source: writes §3, step 4.
"""

from collections.abc import Callable
from dataclasses import replace

from dormouse import telemetry
from dormouse.codec.change_set import ChangeSet
from dormouse.ids import BlobKey
from dormouse.jobs.progress import append_ready_parts, fail, finish_enrichment, give_up_enrichment
from dormouse.jobs.transition import added, moved
from dormouse.model.change import ApplyLease, Change, ChangeKind
from dormouse.model.job import Job, JobFailure, Stage
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction


class Settler:
    """`enrich` wakes whoever derives memories from what became searchable; None: nobody does."""

    def __init__(self, catalog: Catalog, blobs: BlobStore, *, enrich: Callable[[], None] | None = None) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._enrich = enrich

    async def settle(self, lease: ApplyLease, change: Change, change_set: ChangeSet) -> None:
        """Raises `LeaseLostError`; nothing is kept then."""
        moved_text = await self._text_as_blob(change)

        async def settled(tx: CatalogTransaction) -> tuple[Job, Job, int] | None:
            await tx.changes.lock(change.workspace)
            if not await tx.changes.mark_applied(lease, change.seq):
                return None
            before = await tx.jobs.get(change.job)
            await _count_terms(tx, change, change_set, is_counted=not before.stage.is_final)
            if change_set.hides is not None and change.document is not None:
                await tx.hidden.settle(change.document, is_applied=change_set.hides)
            job = replace(before, counts=added(before.counts, change_set.counts), updated_ms=tx.now_ms)
            if not job.stage.is_final:
                job = await self._progress(tx, change, job, moved_text)
            await tx.commit()
            return before, job, tx.now_ms

        result = await self._catalog.write(settled)
        if result is None:
            return
        before, job, now_ms = result
        _observe(before, job, now_ms)
        if self._enrich is not None and job.stage is Stage.SEARCHABLE:
            self._enrich()

    async def give_up(self, lease: ApplyLease, change: Change, failure: JobFailure) -> None:
        """The eighth failure ends a change and its job; what erases or hides only goes to the end."""
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(change.workspace)
            if change.kind.is_erasure or change.kind.is_hiding:
                await tx.changes.move_to_end(lease, change.seq)
            else:
                before = await tx.jobs.get(change.job)
                job = await _abandoned(tx, lease, change, before, failure)
                _observe(before, job, tx.now_ms)
            await tx.commit()

    async def _progress(self, tx: CatalogTransaction, change: Change, job: Job, text: BlobKey | None) -> Job:
        if not job.kind.is_extracted:
            return await _moved(tx, job, Stage.COMPLETE)
        if change.kind is ChangeKind.ENRICH:
            await tx.jobs.save(job)
            return await finish_enrichment(tx, job)
        if change.is_last_part:
            await _become_searchable(tx, change, text)
            searchable = await _moved(tx, job, Stage.SEARCHABLE)
            return searchable if self._enrich else await _moved(tx, searchable, Stage.COMPLETE)
        await tx.jobs.save(job)
        await append_ready_parts(tx, job)
        return job

    async def _text_as_blob(self, change: Change) -> BlobKey | None:
        """What lay inline lies beside its job from now on: nothing reads it from the catalog any more."""
        if change.kind is not ChangeKind.UPSERT or not change.is_last_part or change.document is None:
            return None
        document, number = change.document, change.revision
        revision = await self._catalog.read(lambda tx: tx.revisions.get(document, number))
        if revision is None or revision.inline is None:
            return None
        return await self._blobs.put(change.workspace, change.job, revision.inline)


async def _count_terms(
    tx: CatalogTransaction, change: Change, change_set: ChangeSet, *, is_counted: bool
) -> None:
    """A job that ended meanwhile counts no more parts, so their terms must not be counted either: the erasure
    behind it subtracts what the parts counted say."""
    if change.kind is ChangeKind.ERASE_DATASET:
        await tx.terms.drop_below(change.dataset, change.generation)
        return
    for delta in (change_set.terms, change_set.retired) if is_counted else (change_set.retired,):
        await tx.terms.add(delta.dataset, delta.generation, delta.passages, delta.terms)


async def _moved(tx: CatalogTransaction, job: Job, stage: Stage) -> Job:
    changed = moved(job, stage, tx.now_ms)
    await tx.jobs.save(changed)
    return changed


async def _abandoned(
    tx: CatalogTransaction, lease: ApplyLease, change: Change, job: Job, failure: JobFailure
) -> Job:
    """What only adds to content that is searchable already never fails it. A job fails while its change still
    waits: only then is it known that the stores may hold some of it, and an erasure is written behind."""
    if not job.stage.is_final and change.kind is not ChangeKind.ENRICH:
        job = await fail(tx, job, failure)
    await tx.changes.abandon(lease, change.seq)
    if not job.stage.is_final:
        job = await give_up_enrichment(tx, job, replace(failure, stage=Stage.ENRICHING))
    return job


async def _become_searchable(tx: CatalogTransaction, change: Change, text: BlobKey | None) -> None:
    document = await tx.documents.get(change.document) if change.document else None
    if document is None:
        return
    await tx.documents.save(replace(document, searchable_revision=change.revision, updated_ms=tx.now_ms))
    if text is not None:
        await tx.revisions.move_inline(document.id, change.revision, text)


def _observe(before: Job, job: Job, now_ms: int) -> None:
    since_accepted_s = (now_ms - job.accepted_ms) / 1000
    if before.stage.is_final or before.stage is job.stage:
        return
    if job.stage.is_searchable and not before.stage.is_searchable and job.kind.is_extracted:
        telemetry.job_reached("searchable", since_accepted_s)
    if job.stage is Stage.COMPLETE:
        telemetry.job_reached("complete", since_accepted_s)
    elif job.stage is Stage.FAILED:
        telemetry.job_reached("failed", since_accepted_s)
