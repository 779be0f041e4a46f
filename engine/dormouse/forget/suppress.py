"""Accepting that an item be hidden everywhere, or be seen again: true for every reader from the commit on.

The stores follow by one change, in order with all others, so that an update, a forget or a crash in between
finds every count as it must be. Suppressing what is suppressed, and restoring what is not, succeeds at once.
Source: writes §1 and §5.
"""

from dormouse import telemetry
from dormouse.access.lookup import granted_now
from dormouse.errors import NotFoundError, UnavailableError
from dormouse.ids import DatasetId, DocumentId, new_job_id
from dormouse.model.change import Change, ChangeKind
from dormouse.model.document import Document
from dormouse.model.job import Job, JobKind, Stage
from dormouse.model.receipt import Receipt
from dormouse.model.scope import Permission, Scope
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.ports.message_bus import MessageBus


class SuppressAcceptor:
    """Both raise `NotFoundError` for a dataset or item that is not there and `ForbiddenError` for a dataset
    that may only be read."""

    def __init__(self, catalog: Catalog, bus: MessageBus) -> None:
        self._catalog = catalog
        self._bus = bus

    async def suppress_item(self, scope: Scope, dataset: DatasetId, document: DocumentId) -> Receipt:
        return await self._accept(scope, dataset, document, JobKind.SUPPRESS)

    async def restore_item(self, scope: Scope, dataset: DatasetId, document: DocumentId) -> Receipt:
        return await self._accept(scope, dataset, document, JobKind.RESTORE)

    async def _accept(
        self, scope: Scope, dataset: DatasetId, document_id: DocumentId, kind: JobKind
    ) -> Receipt:
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(scope.workspace)
            document = await _item(tx, scope, dataset, document_id)
            if kind is JobKind.SUPPRESS:
                is_new = await tx.hidden.hide(scope.workspace, dataset, document.id)
            else:
                is_new = await tx.hidden.show(document.id)
            job = _job(tx, scope, document, kind, is_new=is_new)
            await tx.jobs.add(job)
            if is_new:
                await tx.changes.append(_change(job, document))
            receipt = Receipt(job, await tx.datasets.get(dataset), await tx.documents.get(document.id))
            await tx.commit()
        if is_new:
            await self._ring(job)
        return receipt

    async def _ring(self, job: Job) -> None:
        try:
            with telemetry.send("dormouse.apply", workspace=job.workspace, job=job.id):
                await self._bus.ring_apply(job.workspace)
        except UnavailableError:
            return  # the change row is the outbox: the sweeper rings again


async def _item(tx: CatalogTransaction, scope: Scope, dataset: DatasetId, document_id: DocumentId) -> Document:
    await granted_now(tx, scope, dataset, Permission.WRITE)
    document = await tx.documents.get(document_id)
    if document is None or document.dataset != dataset:
        raise NotFoundError("no such item in this dataset")
    return document


def _job(tx: CatalogTransaction, scope: Scope, document: Document, kind: JobKind, *, is_new: bool) -> Job:
    return Job(
        id=new_job_id(),
        workspace=scope.workspace,
        principal=scope.principal,
        kind=kind,
        dataset=document.dataset,
        document=document.id,
        revision=document.newest_revision,
        stage=Stage.ACCEPTED if is_new else Stage.COMPLETE,
        accepted_ms=tx.now_ms,
        updated_ms=tx.now_ms,
        finished_ms=None if is_new else tx.now_ms,
        is_duplicate=not is_new,
    )


def _change(job: Job, document: Document) -> Change:
    return Change(
        workspace=job.workspace,
        seq=0,
        job=job.id,
        part=-1,
        kind=ChangeKind.SUPPRESS if job.kind is JobKind.SUPPRESS else ChangeKind.RESTORE,
        dataset=document.dataset,
        document=document.id,
        generation=document.dataset_generation,
        revision=document.newest_revision,
        blob=None,
        change_set=None,
    )
