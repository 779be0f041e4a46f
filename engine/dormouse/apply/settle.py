"""The transaction that makes a change applied: counts, terms, the job's progress and its next part, together.

Repeating it after a crash finds the change applied and does nothing. Source: writes §3, step 4.
"""

from dataclasses import replace

from dormouse import telemetry
from dormouse.codec.change_set import ChangeSet
from dormouse.ids import BlobKey
from dormouse.jobs.progress import append_ready_parts, fail
from dormouse.jobs.transition import added, moved
from dormouse.model.change import ApplyLease, Change, ChangeKind
from dormouse.model.job import Job, JobFailure, Stage
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction


class Settler:
    def __init__(self, catalog: Catalog, blobs: BlobStore) -> None:
        self._catalog = catalog
        self._blobs = blobs

    async def settle(self, lease: ApplyLease, change: Change, change_set: ChangeSet) -> None:
        """Raises `LeaseLostError`; nothing is kept then."""
        moved_text = await self._text_as_blob(change)
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(change.workspace)
            if not await tx.changes.mark_applied(lease, change.seq):
                return
            before = await tx.jobs.get(change.job)
            await _count_terms(tx, change, change_set, is_counted=not before.stage.is_final)
            if change_set.hides is not None and change.document is not None:
                await tx.hidden.settle(change.document, is_applied=change_set.hides)
            job = replace(before, counts=added(before.counts, change_set.counts), updated_ms=tx.now_ms)
            if not job.stage.is_final:
                await _progress(tx, change, job, moved_text)
            await tx.commit()
            now_ms = tx.now_ms
        if not before.stage.is_final and (change.is_last_part or not job.kind.is_extracted):
            _observe(job, now_ms)

    async def give_up(self, lease: ApplyLease, change: Change, failure: JobFailure) -> None:
        """The eighth failure ends a change and its job; what erases or hides only goes to the end."""
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(change.workspace)
            if change.kind.is_erasure or change.kind.is_hiding:
                await tx.changes.move_to_end(lease, change.seq)
            else:
                job = await tx.jobs.get(change.job)
                if not job.stage.is_final:
                    await fail(tx, job, failure)
                    telemetry.job_reached("failed", (tx.now_ms - job.accepted_ms) / 1000)
                await tx.changes.abandon(lease, change.seq)
            await tx.commit()

    async def _text_as_blob(self, change: Change) -> BlobKey | None:
        """What lay inline lies beside its job from now on: nothing reads it from the catalog any more."""
        if change.kind is not ChangeKind.UPSERT or not change.is_last_part or change.document is None:
            return None
        async with self._catalog.reading() as tx:
            revision = await tx.revisions.get(change.document, change.revision)
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


async def _progress(tx: CatalogTransaction, change: Change, job: Job, text: BlobKey | None) -> None:
    if not job.kind.is_extracted:
        await tx.jobs.save(moved(job, Stage.COMPLETE, tx.now_ms))
    elif change.is_last_part:
        await _become_searchable(tx, change, text)
        searchable = moved(job, Stage.SEARCHABLE, tx.now_ms)
        await tx.jobs.save(searchable)
        await tx.jobs.save(moved(searchable, Stage.COMPLETE, tx.now_ms))
    else:
        await tx.jobs.save(job)
        await append_ready_parts(tx, job)


async def _become_searchable(tx: CatalogTransaction, change: Change, text: BlobKey | None) -> None:
    document = await tx.documents.get(change.document) if change.document else None
    if document is None:
        return
    await tx.documents.save(replace(document, searchable_revision=change.revision, updated_ms=tx.now_ms))
    if text is not None:
        await tx.revisions.move_inline(document.id, change.revision, text)


def _observe(job: Job, now_ms: int) -> None:
    since_accepted_s = (now_ms - job.accepted_ms) / 1000
    if job.kind.is_extracted:
        telemetry.job_reached("searchable", since_accepted_s)
    telemetry.job_reached("complete", since_accepted_s)
