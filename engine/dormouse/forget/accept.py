"""Accepting a forget: what it names is invisible when this returns, and is erased everywhere after that.

Raising the generation, taking back the grants, cancelling unfinished work, erasing session entries and
numbering the erasure are one transaction, so that nothing accepted later can be hit by it.
Source: writes §1 and §5.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dormouse import telemetry
from dormouse.access.lookup import granted_now
from dormouse.errors import UnavailableError
from dormouse.ids import DatasetId, DocumentId, PrincipalId, WorkspaceId, new_job_id
from dormouse.jobs.progress import cancel
from dormouse.model.change import Change, ChangeKind
from dormouse.model.dataset import Dataset
from dormouse.model.document import Document
from dormouse.model.job import CancelReason, Job, JobKind, Stage
from dormouse.model.receipt import ForgetReceipt
from dormouse.model.scope import Permission, Scope
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.ports.message_bus import MessageBus

ALL_JOBS = 1_000_000  # that still derive memories; a forget ends every one of them
PAGE = 500
RESETS_AT_ONCE = 200  # items of which the memory is forgotten in one transaction


class ForgetAcceptor:
    """Accepts forgets. Forgetting what is already gone succeeds, with an empty receipt."""

    def __init__(self, catalog: Catalog, bus: MessageBus) -> None:
        self._catalog = catalog
        self._bus = bus

    async def forget_item(self, scope: Scope, dataset: DatasetId, document: DocumentId) -> ForgetReceipt:
        """Raises `NotFoundError` or `ForbiddenError` for the dataset, never for the document."""
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(scope.workspace)
            await granted_now(tx, scope, dataset, Permission.DELETE)
            receipt = await _forget_item(tx, scope, dataset, document)
            await tx.commit()
        return await self._rung(scope.workspace, receipt)

    async def forget_dataset(self, scope: Scope, dataset: DatasetId) -> ForgetReceipt:
        """Raises `NotFoundError` or `ForbiddenError`."""
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(scope.workspace)
            row = await granted_now(tx, scope, dataset, Permission.DELETE)
            receipt = await _forget_datasets(tx, scope, [row], JobKind.FORGET_DATASET)
            await tx.commit()
        return await self._rung(scope.workspace, receipt)

    async def forget_item_memory(self, scope: Scope, dataset: DatasetId, document: DocumentId) -> ForgetReceipt:
        """What was derived from the item; the item and its text stay, staged as if they had just been added.

        Nothing to do for an item that is staged, or not there. Raises `NotFoundError` or `ForbiddenError` for
        the dataset.
        """
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(scope.workspace)
            await granted_now(tx, scope, dataset, Permission.DELETE)
            live = await tx.documents.get(document)
            found = [live] if live is not None and live.dataset == dataset else []
            jobs = await _forget_memories(tx, scope, found)
            await tx.commit()
        return await self._rung(scope.workspace, ForgetReceipt(jobs, 0))

    async def forget_dataset_memory(self, scope: Scope, dataset: DatasetId) -> ForgetReceipt:
        """As above for every item, with a job for each; a page of them at a time, so that others may write."""
        jobs: tuple[Job, ...] = ()
        after: DocumentId | None = None
        is_through = False
        while not is_through:
            async with self._catalog.transaction() as tx:
                await tx.changes.lock(scope.workspace)
                await granted_now(tx, scope, dataset, Permission.DELETE)
                page = await tx.documents.listing(dataset, after=after, limit=RESETS_AT_ONCE)
                jobs += await _forget_memories(tx, scope, page)
                await tx.commit()
            after = page[-1].id if page else None
            is_through = len(page) < RESETS_AT_ONCE
        return await self._rung(scope.workspace, ForgetReceipt(jobs, 0))

    async def forget_everything(self, scope: Scope) -> ForgetReceipt:
        """Everything the caller owns, their session entries included; what others shared stays theirs."""
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(scope.workspace)
            owned = await tx.datasets.owned_by(scope.workspace, scope.principal)
            receipt = await _forget_datasets(tx, scope, owned, JobKind.FORGET_EVERYTHING)
            entries = _own(scope, await tx.sessions.erase(owner=scope.principal))
            await tx.commit()
        if entries and not receipt.jobs:
            await self._catalog.scrub()  # else the erasures that were numbered do it
        total = ForgetReceipt(receipt.jobs, receipt.session_entries + entries)
        return await self._rung(scope.workspace, total)

    async def _rung(self, workspace: WorkspaceId, receipt: ForgetReceipt) -> ForgetReceipt:
        for job in receipt.jobs:
            try:
                with telemetry.send("dormouse.apply", workspace=workspace, job=job.id):
                    await self._bus.ring_apply(workspace)
            except UnavailableError:
                return receipt  # the change row is the outbox: the sweeper rings again
        return receipt


async def _forget_item(
    tx: CatalogTransaction, scope: Scope, dataset: DatasetId, document_id: DocumentId
) -> ForgetReceipt:
    live = await tx.documents.get(document_id)
    if live is None or live.dataset != dataset:
        return ForgetReceipt((), 0)
    unfinished = await tx.jobs.unfinished_of(document_id)
    await tx.documents.forget(document_id)
    await tx.datasets.touch(dataset)
    entries = _own(scope, await tx.sessions.erase(document=document_id))
    await _cancel(tx, unfinished)
    job = _job(tx, scope, JobKind.FORGET_ITEM, dataset, live)
    await tx.jobs.add(job)
    await tx.changes.append(_erasure(job, ChangeKind.ERASE_DOCUMENT, live.dataset_generation))
    return ForgetReceipt((job,), entries)


async def _forget_datasets(
    tx: CatalogTransaction, scope: Scope, datasets: Sequence[Dataset], kind: JobKind
) -> ForgetReceipt:
    jobs: list[Job] = []
    entries = 0
    for dataset in datasets:
        # The id outlives the dataset: whoever could read the old one must not read what is remembered anew.
        await tx.access.revoke_all(dataset.id)
        if not dataset.listed:
            continue  # already forgotten, and nothing was remembered since
        found = [
            *await tx.jobs.unfinished_or_latest_of([dataset.id]),
            *await tx.enrichment.unfinished(dataset.id, limit=ALL_JOBS),
        ]
        unfinished = {job.id: job for job in found if not job.stage.is_final}
        entries += await _erase_entries(tx, scope, dataset.id)
        raised = await tx.datasets.forget(dataset.id)
        await _cancel(tx, list(unfinished.values()))
        job = _job(tx, scope, kind, dataset.id, None)
        await tx.jobs.add(job)
        await tx.changes.append(_erasure(job, ChangeKind.ERASE_DATASET, raised.generation))
        jobs.append(job)
    return ForgetReceipt(tuple(jobs), entries)


async def _erase_entries(tx: CatalogTransaction, scope: Scope, dataset: DatasetId) -> int:
    """Entries bound to the dataset, and those that quote one of its documents without being bound to it."""
    erased = _own(scope, await tx.sessions.erase(dataset=dataset))
    after: DocumentId | None = None
    while page := await tx.documents.listing(dataset, after=after, limit=PAGE):
        for document in page:
            erased += _own(scope, await tx.sessions.erase(document=document.id))
        after = page[-1].id
    return erased


async def _forget_memories(
    tx: CatalogTransaction, scope: Scope, documents: Sequence[Document]
) -> tuple[Job, ...]:
    jobs = [job for each in documents if (job := await _forget_memory(tx, scope, each)) is not None]
    for dataset in {each.dataset for each in documents if jobs}:
        await tx.datasets.touch(dataset)
    return tuple(jobs)


async def _forget_memory(tx: CatalogTransaction, scope: Scope, document: Document) -> Job | None:
    """Its text becomes a new revision that waits to be taken up; whatever older ones brought is out of date."""
    newest = await tx.revisions.newest_sound(document.id)
    newest = newest or await tx.revisions.get(document.id, document.newest_revision)
    if newest is None or (newest.is_staged and newest.number == document.newest_revision):
        return None
    unfinished = await tx.jobs.unfinished_of(document.id)
    await _cancel(tx, [job for job in unfinished if job.kind.is_extracted])
    number = document.newest_revision + 1
    emptied = replace(
        document, newest_revision=number, searchable_revision=0, memory_from=number, updated_ms=tx.now_ms
    )
    job = _job(tx, scope, JobKind.FORGET_MEMORY, document.dataset, emptied)
    await tx.documents.save(emptied)
    await tx.revisions.add(
        replace(newest, number=number, job=job.id, is_failed=False, is_staged=True, created_ms=tx.now_ms)
    )
    await tx.jobs.add(job)
    await tx.changes.append(_erasure(job, ChangeKind.ERASE_MEMORY, document.dataset_generation))
    return job


def _own(scope: Scope, erased: Mapping[PrincipalId, int]) -> int:
    """A session is its owner's alone: what others had said in theirs goes too, and is not counted."""
    return erased.get(scope.principal, 0)


async def _cancel(tx: CatalogTransaction, jobs: Sequence[Job]) -> None:
    for job in jobs:
        await cancel(tx, job, CancelReason.FORGOTTEN)


def _job(
    tx: CatalogTransaction, scope: Scope, kind: JobKind, dataset: DatasetId, document: Document | None
) -> Job:
    return Job(
        id=new_job_id(),
        workspace=scope.workspace,
        principal=scope.principal,
        kind=kind,
        dataset=dataset,
        document=document.id if document else None,
        revision=document.newest_revision if document else 0,
        stage=Stage.ACCEPTED,
        accepted_ms=tx.now_ms,
        updated_ms=tx.now_ms,
    )


def _erasure(job: Job, kind: ChangeKind, generation: int) -> Change:
    assert job.dataset is not None
    return Change(
        workspace=job.workspace,
        seq=0,
        job=job.id,
        part=-1,
        kind=kind,
        dataset=job.dataset,
        document=job.document,
        generation=generation,
        revision=job.revision,
        blob=None,
        change_set=None,
    )
