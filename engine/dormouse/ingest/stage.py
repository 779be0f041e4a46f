"""Staged items: durable like any other, and extracted only when somebody asks for it.

An item is staged by a job of its own, born complete; a REMEMBER job takes it up later. In between nobody finds
it in a recall. Source: contract-graph, "REST".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dormouse.access.lookup import granted_now
from dormouse.errors import UnavailableError
from dormouse.ids import JobId, new_job_id
from dormouse.jobs.once import answered_before, note_answer
from dormouse.model.dataset import Dataset
from dormouse.model.document import Document, Revision
from dormouse.model.job import Job, JobCounts, JobKind, Stage
from dormouse.model.receipt import IdempotencyKey, Receipt
from dormouse.model.scope import Permission, Scope
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.ports.message_bus import MessageBus

PAGE = 200  # items in one transaction, so that other writers get their turn


@dataclass(frozen=True, slots=True)
class _Wish:
    """`options` are added to those each item was staged with."""

    scope: Scope
    dataset: Dataset
    options: Mapping[str, str]
    key: IdempotencyKey | None

    def key_of(self, index: int) -> IdempotencyKey | None:
        return self.key and replace(self.key, route=f"{self.key.route} {self.dataset.id} {index}")

    @property
    def whole(self) -> IdempotencyKey | None:
        return self.key and replace(self.key, route=f"{self.key.route} {self.dataset.id}")


class Stager:
    """Takes up what waits in a dataset."""

    def __init__(self, catalog: Catalog, bus: MessageBus) -> None:
        self._catalog = catalog
        self._bus = bus

    async def take_up_all(
        self,
        scope: Scope,
        dataset: Dataset,
        options: Mapping[str, str],
        idempotency: IdempotencyKey | None = None,
    ) -> Sequence[Receipt]:
        """One receipt per item, by document id; none when nothing waits.

        A repeated call gives the receipts of the first one, and what it left undone is done.
        Raises `NotFoundError`, `ForbiddenError` and `IdempotencyConflictError`.
        """
        wish = _Wish(scope, dataset, options, idempotency)
        async with self._catalog.reading() as tx:
            taken = await _taken_before(tx, wish)
            is_through = await answered_before(tx, scope.principal, wish.whole) is not None
        while not is_through:
            page = await self._take_page(wish, len(taken))
            taken += page
            is_through = len(page) < PAGE
        await self._ring(taken)
        return taken

    async def _take_page(self, wish: _Wish, start: int) -> list[Receipt]:
        principal = wish.scope.principal
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(wish.scope.workspace)
            await granted_now(tx, wish.scope, wish.dataset.id, Permission.WRITE)
            waiting = await tx.revisions.staged(wish.dataset.id, limit=PAGE)
            receipts: list[Receipt] = []
            for document, revision in waiting:
                job = await take_up(tx, wish.scope, document, revision, wish.options)
                await note_answer(tx, principal, wish.key_of(start + len(receipts)), job.id)
                receipts.append(Receipt(job, wish.dataset, document))
            if len(receipts) < PAGE:
                await note_answer(tx, principal, wish.whole, wish.dataset.id)
            await tx.commit()
        return receipts

    async def _ring(self, receipts: Sequence[Receipt]) -> None:
        try:
            for receipt in receipts:
                if not receipt.job.stage.is_final:
                    await self._bus.ring_ingest(receipt.job.workspace, receipt.job.id)
        except UnavailableError:
            return  # accepted is accepted: the sweeper rings again


async def take_up(
    tx: CatalogTransaction, scope: Scope, document: Document, revision: Revision, options: Mapping[str, str]
) -> Job:
    """A job that extracts a staged revision, which is the job's from then on."""
    job = job_for(scope, document, JobKind.REMEMBER, tx.now_ms, size_bytes=revision.size_bytes)
    job = replace(job, revision=revision.number)
    await tx.jobs.add(job)
    await tx.revisions.take_up(document.id, revision.number, job.id, {**revision.options, **options})
    return job


def job_for(scope: Scope, document: Document, kind: JobKind, now_ms: int, *, size_bytes: int) -> Job:
    """Of the document's newest revision; a job that only stages is complete from the start."""
    is_over = kind is JobKind.ADD
    return Job(
        id=new_job_id(),
        workspace=document.workspace,
        principal=scope.principal,
        kind=kind,
        dataset=document.dataset,
        document=document.id,
        revision=document.newest_revision,
        stage=Stage.COMPLETE if is_over else Stage.ACCEPTED,
        accepted_ms=now_ms,
        updated_ms=now_ms,
        finished_ms=now_ms if is_over else None,
        counts=JobCounts(size_bytes=size_bytes),
    )


async def _taken_before(tx: CatalogTransaction, wish: _Wish) -> list[Receipt]:
    """What an earlier call under this key took up."""
    taken: list[Receipt] = []
    while (known := await answered_before(tx, wish.scope.principal, wish.key_of(len(taken)))) is not None:
        job = await tx.jobs.get(JobId(known))
        taken.append(Receipt(job, wish.dataset, await tx.documents.get(job.document) if job.document else None))
    return taken
