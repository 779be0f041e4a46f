"""Accepting what is to be remembered: durable when it returns, extracted later.

One catalog transaction decides, numbers and records; content over the inline limit is a blob before that.
The job's row is the outbox: a bell that is lost is rung again by the sweeper. Source: writes §1.
"""

from dataclasses import dataclass, replace

from dormouse.clock import Clock
from dormouse.errors import (
    ConflictError,
    DocumentExistsError,
    ForbiddenError,
    NotFoundError,
    SupersededError,
    UnavailableError,
)
from dormouse.ids import BlobKey, DocumentId, JobId, document_id, new_job_id, sha256_hex
from dormouse.ingest.dedupe import Decision, Known, decide, identity_of
from dormouse.ingest.stage import job_for, take_up
from dormouse.ingest.target import opened_for_writing
from dormouse.ingest.validate import check
from dormouse.jobs.follow import own_job
from dormouse.jobs.once import answered_before, forgotten_since, note_answer
from dormouse.model.dataset import Dataset
from dormouse.model.document import INLINE_LIMIT_BYTES, Content, ContentKind, Document, Revision
from dormouse.model.job import Job, JobKind, Stage
from dormouse.model.receipt import IdempotencyKey, Receipt
from dormouse.model.scope import Scope
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.ports.message_bus import MessageBus
from dormouse.text.naming import composed

STAYING = ("label", "external_metadata")  # options of an item rather than of one revision
OLDEST_BLOB_MS = 3600 * 1000  # the sweeper takes blobs that no row names: accept well before it could


@dataclass(frozen=True, slots=True)
class _Offer:
    """One call to remember: everything that is known before the catalog is asked."""

    scope: Scope
    dataset: Dataset
    content: Content
    sha256: str
    identity: str
    job: JobId
    idempotency: IdempotencyKey | None
    retry_of: JobId | None = None
    blob: BlobKey | None = None
    kind: JobKind = JobKind.REMEMBER
    replaces: DocumentId | None = None

    @property
    def is_staged(self) -> bool:
        return self.kind is JobKind.ADD

    @property
    def needs_blob(self) -> bool:
        return self.blob is None and len(self.content.body) > INLINE_LIMIT_BYTES


class Acceptor:
    """Takes in content; never waits for a store but the blobs."""

    def __init__(self, catalog: Catalog, blobs: BlobStore, bus: MessageBus, clock: Clock) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._bus = bus
        self._clock = clock

    async def remember(
        self, scope: Scope, dataset: Dataset, content: Content, idempotency: IdempotencyKey | None = None
    ) -> Receipt:
        """A receipt: of a new job, of the running one for the same content, or of one born complete.

        Raises `InvalidInputError`, `TooLargeError`, `ForbiddenError`, `IdempotencyConflictError` and
        `UnavailableError`; nothing was stored then.
        """
        return await self._take(_offer(scope, dataset, content, idempotency))

    async def stage(
        self, scope: Scope, dataset: Dataset, content: Content, idempotency: IdempotencyKey | None = None
    ) -> Receipt:
        """Durable and not extracted; the receipt's job is complete.

        Raises `DocumentExistsError` when other content is there under the name, and as `remember` does.
        """
        return await self._take(replace(_offer(scope, dataset, content, idempotency), kind=JobKind.ADD))

    async def replace(
        self,
        scope: Scope,
        dataset: Dataset,
        document: DocumentId,
        content: Content,
        idempotency: IdempotencyKey | None = None,
    ) -> Receipt:
        """A new revision of this document, whatever the content is called; raises `NotFoundError`."""
        return await self._take(replace(_offer(scope, dataset, content, idempotency), replaces=document))

    async def retry(self, scope: Scope, job: JobId, idempotency: IdempotencyKey | None = None) -> Receipt:
        """The content of a job that failed, or could not be enriched, once more, as a new revision, so that no
        late erasure of the failed one can touch it. What was embedded and derived already is taken over.

        Raises `NotFoundError`, `ForbiddenError` (somebody else's), `ConflictError` (nothing failed) and
        `SupersededError` (out of date).
        """
        async with self._catalog.reading() as tx:
            known = await answered_before(tx, scope.principal, idempotency)
            if known is not None:
                return await _receipt_of(tx, await tx.jobs.get(JobId(known)))
            failed, document, revision = await _failed_attempt(tx, scope, job)
            dataset = await tx.datasets.get(document.dataset)
        body = revision.inline if revision.blob is None else await self._blobs.get(revision.blob)
        content = Content(
            body=body or b"",
            kind=revision.kind,
            filename=revision.filename,
            external_id=document.external_id,
            occurred_ms=revision.occurred_ms,
            offset_minutes=revision.offset_minutes,
            zone=revision.zone,
            options=revision.options,
        )
        offer = _Offer(
            scope=scope,
            dataset=dataset,
            content=content,
            sha256=revision.content_sha256,
            identity=document.identity,
            job=new_job_id(),
            idempotency=idempotency,
            retry_of=failed.id,
        )
        return await self._take(offer)

    async def _take(self, offer: _Offer) -> Receipt:
        receipt = None if offer.needs_blob and not await self._looks_known(offer) else await self._record(offer)
        if receipt is None:
            put_ms = self._clock.now_ms()
            blob = await self._blobs.put(offer.scope.workspace, offer.job, offer.content.body)
            if self._clock.now_ms() - put_ms > OLDEST_BLOB_MS:
                raise UnavailableError("storing the content took too long: send it again")
            receipt = await self._record(replace(offer, blob=blob))
        if receipt is None:
            raise ConflictError("the content could not be recorded")
        await self._ring(receipt.job)
        return receipt

    async def _looks_known(self, offer: _Offer) -> bool:
        """Whether storing the body would be in vain, as far as a first look can tell."""
        async with self._catalog.reading() as tx:
            if await _recorded(tx, offer) is not None:
                return True
            dataset = await tx.datasets.get(offer.dataset.id)
            return dataset.listed and (await _decide(tx, offer)).action == "duplicate"

    async def _record(self, offer: _Offer) -> Receipt | None:
        """The accepting transaction; None when the content turns out to need a blob that is not there."""
        return await self._catalog.write(lambda tx: _accept(tx, offer))

    async def _ring(self, job: Job) -> None:
        if job.stage.is_final:
            return
        try:
            await self._bus.ring_ingest(job.workspace, job.id)
        except UnavailableError:
            return  # accepted is accepted: the sweeper rings again


def _offer(scope: Scope, dataset: Dataset, content: Content, idempotency: IdempotencyKey | None) -> _Offer:
    check(content)
    content = replace(content, filename=composed(content.filename))
    return _Offer(
        scope=scope,
        dataset=dataset,
        content=content,
        sha256=sha256_hex(content.body),
        identity=identity_of(content),
        job=new_job_id(),
        idempotency=idempotency,
    )


async def _accept(tx: CatalogTransaction, offer: _Offer) -> Receipt | None:
    await tx.changes.lock(offer.scope.workspace)
    receipt = await _recorded(tx, offer)
    if receipt is not None:
        return receipt
    dataset = await opened_for_writing(tx, offer.scope, offer.dataset.id)
    if offer.retry_of is not None:
        await _failed_attempt(tx, offer.scope, offer.retry_of)  # again: a forget may have come between
    decision = await _decide(tx, offer)
    if decision.action != "duplicate" and offer.needs_blob:
        return None
    receipt = await _receive(tx, replace(offer, dataset=dataset), decision)
    await note_answer(tx, offer.scope.principal, offer.idempotency, receipt.job.id)
    await tx.commit()
    return receipt


async def _recorded(tx: CatalogTransaction, offer: _Offer) -> Receipt | None:
    """The receipt that this idempotency key was answered with before."""
    known = await answered_before(tx, offer.scope.principal, offer.idempotency)
    if known is None:
        return None
    job = await tx.jobs.get(JobId(known))
    if job.document and await tx.documents.get(job.document) is None:
        raise forgotten_since()  # accepted to be, and not erased yet
    return await _receipt_of(tx, job)


async def _receipt_of(tx: CatalogTransaction, job: Job) -> Receipt:
    dataset = await tx.datasets.get(job.dataset) if job.dataset else None
    document = await tx.documents.get(job.document) if job.document else None
    return Receipt(job, dataset, document)


async def _decide(tx: CatalogTransaction, offer: _Offer) -> Decision:
    document = await _named(tx, offer)
    named = await _known(tx, document)
    twin = None
    if named is None and offer.content.external_id is None:
        twin = await _known(tx, await tx.documents.live_by_content(offer.dataset.id, offer.sha256))
    if named is not None and offer.retry_of is not None:
        return Decision("new_revision", named)  # of the same content, whose derived memories are missing
    decision = decide(offer.sha256, named, twin)
    if offer.is_staged and document and named and named.newest and decision.action == "new_revision":
        raise DocumentExistsError(document.id, document.name)
    return decision


async def _named(tx: CatalogTransaction, offer: _Offer) -> Document | None:
    if offer.replaces is None:
        return await tx.documents.live_by_identity(offer.dataset.id, offer.identity)
    document = await tx.documents.get(offer.replaces)
    if document is None or document.dataset != offer.dataset.id:
        raise NotFoundError(f"Data ({offer.replaces}) not found in dataset ({offer.dataset.id}).")
    return document


async def _known(tx: CatalogTransaction, document: Document | None) -> Known | None:
    if document is None:
        return None
    return Known(document, await tx.revisions.newest_sound(document.id))


async def _receive(tx: CatalogTransaction, offer: _Offer, decision: Decision) -> Receipt:
    known = decision.known
    if decision.action == "duplicate" and known is not None and known.newest is not None:
        return await _duplicate(tx, offer, known.document, known.newest)
    document = _next(offer, known.document, tx.now_ms) if known else await _first(tx, offer)
    offer = replace(offer, content=_of_item(offer, known.newest if known else None))
    job = _job(offer, document, tx.now_ms)
    await tx.documents.save(document, is_new=known is None)
    await tx.revisions.add(_revision(offer, document, tx.now_ms))
    await tx.jobs.add(job)
    await tx.datasets.touch(offer.dataset.id)
    return Receipt(job, offer.dataset, document)


async def _duplicate(tx: CatalogTransaction, offer: _Offer, document: Document, newest: Revision) -> Receipt:
    """The running job while there is one, so that waiting for it works; else a job born complete.

    What is only staged is taken up, unless it was to be staged again.
    """
    if not offer.is_staged:
        if newest.is_staged:
            job = await take_up(tx, offer.scope, document, newest, offer.content.options)
            return Receipt(job, offer.dataset, document)
        for running in await tx.jobs.unfinished_of(document.id):
            if running.id == newest.job:
                return Receipt(running, offer.dataset, document)
    now_ms = tx.now_ms
    job = replace(
        _job(offer, document, now_ms),
        revision=newest.number,
        stage=Stage.COMPLETE,
        is_duplicate=True,
        searchable_ms=None if offer.is_staged else now_ms,
        finished_ms=now_ms,
    )
    await tx.jobs.add(job)
    return Receipt(job, offer.dataset, document)


async def _first(tx: CatalogTransaction, offer: _Offer) -> Document:
    dataset, content = offer.dataset, offer.content
    item_generation = await tx.documents.item_generation(dataset.id, offer.identity)
    return Document(
        id=document_id(dataset.id, offer.identity, dataset.generation, item_generation),
        workspace=dataset.workspace,
        dataset=dataset.id,
        owner=offer.scope.principal,
        identity=offer.identity,
        name=content.filename or content.external_id or f"text_{offer.sha256[:12]}",
        external_id=content.external_id,
        dataset_generation=dataset.generation,
        item_generation=item_generation,
        newest_revision=1,
        searchable_revision=0,
        created_ms=tx.now_ms,
        updated_ms=tx.now_ms,
    )


def _of_item(offer: _Offer, former: Revision | None) -> Content:
    """With what stays with an item from one revision to the next."""
    content = offer.content
    kept = {name: former.options[name] for name in STAYING if name in former.options} if former else {}
    options = {name: value for name, value in (kept | content.options).items() if value or name not in STAYING}
    is_still_chat = (
        offer.replaces is not None and former and former.kind is ContentKind.CHAT and not content.is_kind_said
    )
    return replace(content, options=options, kind=ContentKind.CHAT if is_still_chat else content.kind)


def _next(offer: _Offer, document: Document, now_ms: int) -> Document:
    return replace(
        document,
        name=offer.content.filename or document.name,
        newest_revision=document.newest_revision + 1,
        updated_ms=now_ms,
    )


def _job(offer: _Offer, document: Document, now_ms: int) -> Job:
    made = job_for(offer.scope, document, offer.kind, now_ms, size_bytes=len(offer.content.body))
    return replace(made, id=offer.job, retry_of=offer.retry_of)


def _revision(offer: _Offer, document: Document, now_ms: int) -> Revision:
    content = offer.content
    return Revision(
        document=document.id,
        number=document.newest_revision,
        job=offer.job,
        content_sha256=offer.sha256,
        kind=content.kind,
        filename=content.filename,
        size_bytes=len(content.body),
        inline=content.body if offer.blob is None else None,
        blob=offer.blob,
        occurred_ms=content.occurred_ms,
        offset_minutes=content.offset_minutes,
        zone=content.zone,
        is_failed=False,
        created_ms=now_ms,
        options=content.options,
        is_staged=offer.is_staged,
    )


async def _failed_attempt(
    tx: CatalogTransaction, scope: Scope, job_id: JobId
) -> tuple[Job, Document, Revision]:
    job = await own_job(tx, scope, job_id)
    is_lacking = job.stage is Stage.COMPLETE and job.enrichment_failure is not None
    if job.document is None or not (job.stage is Stage.FAILED or is_lacking):
        raise ConflictError(
            "only a job that brings content and failed, or one that could not be enriched, can be retried"
        )
    if job.dataset not in scope.writable:
        raise ForbiddenError("the dataset of this job is no longer yours to write to")
    document = await tx.documents.get(job.document)
    revision = await tx.revisions.get(job.document, job.revision)
    if document is None or revision is None or document.newest_revision != job.revision:
        raise SupersededError("what this job was to store is out of date")
    return job, document, revision
