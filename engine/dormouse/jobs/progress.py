"""What a job's progress writes into the catalog, inside the caller's transaction.

Every function here expects the workspace's counter row to be locked already (`tx.changes.lock`): job rows
are read and replaced under that lock, so extracting and applying never overwrite each other's counts.
Source: writes §2, §3 and §4.
"""

from dataclasses import replace

from dormouse.ids import BlobKey
from dormouse.jobs.transition import cancelled, failed, moved
from dormouse.model.change import Change, ChangeKind
from dormouse.model.document import Document
from dormouse.model.job import CancelReason, Job, JobFailure, Stage
from dormouse.ports.catalog.transaction import CatalogTransaction

PARTS_AHEAD = 2  # change rows of one job at a time, so that nobody waits in a slot


async def out_of_date(tx: CatalogTransaction, job: Job) -> CancelReason | None:
    """Why a remember job must not go on: its document was forgotten, or a newer revision was accepted."""
    document = await _document(tx, job)
    if document is None:
        return CancelReason.FORGOTTEN
    return CancelReason.SUPERSEDED if document.newest_revision != job.revision else None


async def append_ready_parts(tx: CatalogTransaction, job: Job) -> int:
    """Give change rows to the job's next stored parts, two at a time and in order; returns how many."""
    document = await _document(tx, job)
    if document is None or job.counts.parts == 0:
        return 0
    outstanding = len(await tx.changes.unapplied_of(job.id))
    parts = {part.index: part for part in await tx.work.parts(job.id)}
    following = job.counts.parts_applied + outstanding
    appended = 0
    while outstanding + appended < PARTS_AHEAD and (part := parts.get(following + appended)):
        change = _change(job, document, ChangeKind.UPSERT, part.index)
        is_last = part.index == job.counts.parts - 1
        await tx.changes.append(replace(change, blob=part.blob, is_last_part=is_last))
        appended += 1
    return appended


async def append_window(tx: CatalogTransaction, job: Job, index: int, blob: BlobKey, *, is_last: bool) -> None:
    """Give a change row to a stored window of derived memories; nothing for a window that has one."""
    document = await _document(tx, job)
    if document is not None:
        change = _change(job, document, ChangeKind.ENRICH, index)
        await tx.changes.append(replace(change, blob=blob, is_last_part=is_last))


async def finish_enrichment(tx: CatalogTransaction, job: Job) -> Job:
    """The job, complete if every window is applied, or if nothing more comes after a failure."""
    is_over = job.enrichment_failure is not None or job.counts.windows_done >= job.counts.windows
    waiting = [each for each in await tx.changes.unapplied_of(job.id) if each.kind is ChangeKind.ENRICH]
    if job.stage.is_final or not is_over or waiting:
        return job
    complete = moved(job, Stage.COMPLETE, tx.now_ms)
    await tx.jobs.save(complete)
    return complete


async def give_up_enrichment(tx: CatalogTransaction, job: Job, failure: JobFailure) -> Job:
    """What is derived already stays; the job is complete once that is applied, and says what it lacks."""
    lacking = replace(job, enrichment_failure=failure, parked_reason=None, next_attempt_ms=None)
    await tx.jobs.save(lacking)
    return await finish_enrichment(tx, lacking)


async def end_overtaken(tx: CatalogTransaction, job: Job, reason: CancelReason) -> Job:
    """End a job whose document was forgotten or whose revision was replaced. Content that was searchable in
    its time completed it: only the rest of its derived memories is not wanted any more."""
    if reason is CancelReason.SUPERSEDED and job.stage.is_searchable:
        complete = replace(moved(job, Stage.COMPLETE, tx.now_ms), enrichment_failure=_OVERTAKEN)
        await tx.jobs.save(complete)
        return complete
    return await cancel(tx, job, reason)


_OVERTAKEN = JobFailure(
    code="superseded",
    message="a newer version came before all memories were derived from this one",
    retryable=False,
    stage=Stage.ENRICHING,
)


async def cancel(tx: CatalogTransaction, job: Job, reason: CancelReason) -> Job:
    """End the job; what it already brought into the stores goes, unless a forget erases it anyway."""
    ended = cancelled(job, reason, tx.now_ms)
    await tx.jobs.save(ended)
    if reason is not CancelReason.FORGOTTEN:
        await _withdraw(tx, job)
    return ended


async def fail(tx: CatalogTransaction, job: Job, failure: JobFailure) -> Job:
    """End the job; its revision no longer counts as the newest, and its passages are erased."""
    ended = failed(job, failure, tx.now_ms)
    await tx.jobs.save(ended)
    if job.kind.is_extracted:
        await _withdraw(tx, job)
    return ended


async def _withdraw(tx: CatalogTransaction, job: Job) -> None:
    document = await _document(tx, job)
    if document is None:
        return
    await tx.revisions.mark_failed(document.id, job.revision)
    if job.counts.parts_applied or await tx.changes.unapplied_of(job.id):
        await tx.changes.append(_change(job, document, ChangeKind.ERASE_REVISION, -1))


async def _document(tx: CatalogTransaction, job: Job) -> Document | None:
    return await tx.documents.get(job.document) if job.document else None


def _change(job: Job, document: Document, kind: ChangeKind, part: int) -> Change:
    return Change(
        workspace=job.workspace,
        seq=0,
        job=job.id,
        part=part,
        kind=kind,
        dataset=document.dataset,
        document=document.id,
        generation=document.dataset_generation,
        revision=job.revision,
        blob=None,
        change_set=None,
    )
