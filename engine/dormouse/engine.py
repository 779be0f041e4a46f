"""The facade: everything a gateway, a worker or a program may ask of the memory engine.

Every method that touches memory takes the caller's `Scope`, which only `scope_of` makes.
"""

import secrets
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any

from dormouse.access import listing, lookup, sharing
from dormouse.access.graph_pages import read_page
from dormouse.access.original import read_original
from dormouse.audit.accept import RepairAcceptor
from dormouse.audit.auditor import Auditor
from dormouse.audit.export import Exporter, What
from dormouse.forget.accept import ForgetAcceptor
from dormouse.forget.suppress import SuppressAcceptor
from dormouse.ids import DatasetId, DocumentId, JobId, PrincipalId, SessionEntryId
from dormouse.ingest.accept import Acceptor
from dormouse.ingest.ontologies import Ontologies
from dormouse.ingest.stage import Stager
from dormouse.ingest.target import checked_name, dataset_for_writing, opened_for_writing
from dormouse.ingest.validate import check
from dormouse.jobs import follow
from dormouse.jobs.once import answered_before, note_answer
from dormouse.jobs.standing import Standing, standing_of
from dormouse.jobs.stop import stop
from dormouse.model.audit import AuditReport
from dormouse.model.dataset import Dataset, DatasetSummary
from dormouse.model.document import Content, Item, Original
from dormouse.model.export import ExportRow
from dormouse.model.graph_page import GraphPage, GraphPlace
from dormouse.model.health import Health, LanguageModelUse
from dormouse.model.job import Job, JobStep, Stage
from dormouse.model.recall import RecallRequest, RecallResult
from dormouse.model.receipt import ForgetReceipt, IdempotencyKey, Receipt
from dormouse.model.scope import Grant, Permission, Scope
from dormouse.model.session import EntryDraft, EntryKind, SessionEntry, SessionPage, SessionSummary
from dormouse.ports.bundle import Ports
from dormouse.rebuild.request import RebuildRequests
from dormouse.recall.pipeline import RecallPipeline
from dormouse.running import Loops
from dormouse.sessions import browse
from dormouse.sessions.record import check_session, record
from dormouse.text.naming import composed
from dormouse.troubles import troubles


@dataclass(frozen=True, slots=True)
class Acceptors:
    """Who takes in each kind of write: durable when they answer."""

    remembering: Acceptor
    staging: Stager
    forgetting: ForgetAcceptor
    suppressing: SuppressAcceptor
    repairing: RepairAcceptor


class Engine:
    """Made by `compose`; may be used from any task of the loop that made it."""

    def __init__(
        self,
        ports: Ports,
        *,
        accepts: Acceptors,
        pipeline: RecallPipeline,
        rebuilds: RebuildRequests,
        loops: Loops,
    ) -> None:
        self._ports, self._catalog = ports, ports.catalog
        self._acceptor, self._stager = accepts.remembering, accepts.staging
        self._forgetter, self._suppressor = accepts.forgetting, accepts.suppressing
        self._repairs, self._auditor = accepts.repairing, Auditor(ports)
        self._pipeline, self._loops = pipeline, loops
        self.rebuilds = rebuilds  # for whoever runs the server; who may is decided there
        self.ontologies = Ontologies(ports.catalog, ports.blobs, ports.ontology_reader)

    async def scope_of(self, principal: PrincipalId) -> Scope:
        """What this principal may see now; make a new one for every request."""
        workspace = await self._ports.directory.workspace_of(principal)
        return await self._catalog.read(lambda tx: lookup.scope_of(tx, principal, workspace))

    async def dataset_named(self, scope: Scope, name_or_id: str, *, permission: Permission) -> Dataset:
        """One's own of that name first, then a shared one; the name of a forgotten one means nobody else's.

        Raises `NotFoundError` (a foreign one too), `ForbiddenError` if its owner did not grant this and
        `InvalidInputError` if several shared ones have the name.
        """
        if scope.datasets is not None:
            return lookup.dataset_known(scope, composed(name_or_id), permission)
        async with self._catalog.reading() as tx:
            return await lookup.dataset_named(tx, scope, composed(name_or_id), permission)

    async def datasets(self, scope: Scope) -> Sequence[DatasetSummary]:
        """Readable ones by name, with what is in them."""
        async with self._catalog.reading() as tx:
            return await listing.summaries(tx, scope)

    async def create_dataset(
        self, scope: Scope, name: str, *, idempotency: IdempotencyKey | None = None
    ) -> Dataset:
        """One's own dataset of this name, made if there is none."""
        checked = checked_name(name)
        async with self._catalog.transaction() as tx:
            known = await answered_before(tx, scope.principal, idempotency)
            if known is not None:
                return await tx.datasets.get(DatasetId(known))
            dataset = await tx.datasets.ensure(scope.workspace, scope.principal, checked)
            await note_answer(tx, scope.principal, idempotency, dataset.id)
            await tx.commit()
            return dataset

    async def standings(self, scope: Scope, datasets: Collection[DatasetId]) -> Mapping[DatasetId, Standing]:
        """How the memory of each readable one of `datasets` stands; what is not readable is left out."""
        wanted = scope.readable & frozenset(datasets)
        async with self._catalog.reading() as tx:
            latest = await tx.jobs.unfinished_or_latest_of(wanted)
        return {each: standing_of([job for job in latest if job.dataset == each]) for each in wanted}

    async def items(
        self, scope: Scope, dataset: DatasetId, *, after: DocumentId | None = None, limit: int = 100
    ) -> Sequence[Item]:
        """A page of a readable dataset's items by id; raises `NotFoundError` for any other dataset."""
        async with self._catalog.reading() as tx:
            return await listing.items(tx, scope, dataset, after, limit)

    async def item(self, scope: Scope, dataset: DatasetId, document: DocumentId) -> Item:
        """Raises `NotFoundError`."""
        async with self._catalog.reading() as tx:
            return await listing.item(tx, scope, dataset, document)

    async def original(self, scope: Scope, dataset: DatasetId, document: DocumentId) -> Original:
        """The bytes as they were handed over; raises `NotFoundError`."""
        return await read_original(self._catalog, self._ports.blobs, scope, dataset, document)

    async def graph_of(
        self, scope: Scope, dataset: DatasetId, *, after: GraphPlace | None = None, limit: int = 100
    ) -> GraphPage:
        """A page of a readable dataset's graph; raises `NotFoundError`."""
        page = await read_page(self._catalog, self._ports.graph, scope, dataset, after=after, limit=limit)
        shown = [each.id for each in page.passages]
        relations = await self._ports.graph_upkeep.relations_in(scope.narrowed_to([dataset]), shown)
        return replace(page, relations=tuple(relations))

    async def document_names(self, scope: Scope, documents: Collection[DocumentId]) -> Mapping[DocumentId, str]:
        """What the readable ones among these are called."""
        async with self._catalog.reading() as tx:
            return await listing.names(tx, scope, documents)

    async def grants(self, scope: Scope, dataset: DatasetId) -> Sequence[Grant]:
        """Who else may read, write or forget in it; only the owner may ask, others get `ForbiddenError`."""
        return await sharing.grants_on(self._catalog, scope, dataset)

    async def share(
        self, scope: Scope, dataset: DatasetId, principal: PrincipalId, permission: Permission | None
    ) -> None:
        """Give, change or (None) take back a grant; only the owner may, others get `ForbiddenError`."""
        await sharing.share(self._catalog, scope, dataset, principal, permission)

    async def remember(
        self, scope: Scope, dataset: str, content: Content, *, idempotency: IdempotencyKey | None = None
    ) -> Receipt:
        """Durable when it returns. `dataset` is a name, made if new, or the id of a writable one."""
        check(content)
        await self.ontologies.check(scope, content.options)
        found = await dataset_for_writing(self._catalog, scope, dataset)
        return await self._acceptor.remember(_with(scope, found), found, content, idempotency)

    async def stage(
        self, scope: Scope, dataset: str, content: Content, *, idempotency: IdempotencyKey | None = None
    ) -> Receipt:
        """Durable and complete when it returns, and not extracted until `take_up`.

        Raises `DocumentExistsError` when other content is there under its name.
        """
        check(content)
        await self.ontologies.check(scope, content.options)
        found = await dataset_for_writing(self._catalog, scope, dataset)
        return await self._acceptor.stage(_with(scope, found), found, content, idempotency)

    async def take_up(
        self,
        scope: Scope,
        dataset: DatasetId,
        *,
        options: Mapping[str, str] | None = None,
        idempotency: IdempotencyKey | None = None,
    ) -> Sequence[Receipt]:
        """A job for every item that is staged in the dataset; `options` are added to each item's own."""
        await self.ontologies.check(scope, options or {})
        found = await self.dataset_named(scope, dataset, permission=Permission.WRITE)
        return await self._stager.take_up_all(scope, found, options or {}, idempotency)

    async def replace(
        self,
        scope: Scope,
        dataset: DatasetId,
        document: DocumentId,
        content: Content,
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> Receipt:
        """New content for an item that keeps its id; raises `NotFoundError`."""
        await self.ontologies.check(scope, content.options)
        found = await self.dataset_named(scope, dataset, permission=Permission.WRITE)
        return await self._acceptor.replace(scope, found, document, content, idempotency)

    async def remember_in_session(
        self,
        scope: Scope,
        session: str,
        said: EntryDraft | str,
        *,
        dataset: str | None = None,
        idempotency: IdempotencyKey | None = None,
    ) -> SessionEntry:
        """A note, or another entry; searchable at once under its session for seven days after the last use.

        `dataset` binds the entry to it: forgetting the dataset forgets the entry.
        """
        check_session(session)
        draft = EntryDraft(said) if isinstance(said, str) else said
        if draft.kind is not EntryKind.TRACE:
            check(Content(body=draft.text.encode("utf-8", "surrogatepass")))
        bound = await dataset_for_writing(self._catalog, scope, dataset) if dataset else None
        async with self._catalog.transaction() as tx:
            known = await answered_before(tx, scope.principal, idempotency)
            entry = await tx.sessions.entry(scope.principal, session, SessionEntryId(known)) if known else None
            if entry is not None:
                return entry
            if bound is not None:
                await tx.changes.lock(scope.workspace)
                await opened_for_writing(tx, _with(scope, bound), bound.id)
            entry = await record(tx, scope, session, draft, dataset=bound.id if bound else None, quotes=())
            await note_answer(tx, scope.principal, idempotency, entry.id)
            await tx.commit()
        return entry

    async def describe_entry(
        self, scope: Scope, session: str, entry: SessionEntryId, details: dict[str, Any]
    ) -> SessionEntry:
        """Add details, such as feedback, to an entry of one's own; raises `NotFoundError`."""
        return await browse.describe_entry(self._catalog, scope, session, entry, details)

    async def sessions(
        self, scope: Scope, *, after: tuple[int, str] | None = None, limit: int = 50
    ) -> SessionPage:
        """One's own, last used first; `after` is the (used_ms, name) of the last one seen."""
        return await browse.list_sessions(self._catalog, scope, after=after, limit=limit)

    async def session(
        self, scope: Scope, name: str, *, before: tuple[int, SessionEntryId] | None = None, limit: int = 100
    ) -> tuple[SessionSummary, Sequence[SessionEntry]]:
        """With its newest entries; raises `NotFoundError`."""
        return await browse.read_session(self._catalog, scope, name, before=before, limit=limit)

    async def forget_session(self, scope: Scope, name: str) -> int:
        """Erase one's own session; returns how many entries it had."""
        return await browse.forget_session(self._catalog, scope, name)

    async def forget_item(self, scope: Scope, dataset: DatasetId, document: DocumentId) -> ForgetReceipt:
        """Forgetting what is not there succeeds with an empty receipt."""
        await self.dataset_named(scope, dataset, permission=Permission.DELETE)
        return await self._forgetter.forget_item(scope, dataset, document)

    async def forget_dataset(self, scope: Scope, dataset: DatasetId) -> ForgetReceipt:
        await self.dataset_named(scope, dataset, permission=Permission.DELETE)
        return await self._forgetter.forget_dataset(scope, dataset)

    async def forget_memory(
        self, scope: Scope, dataset: DatasetId, document: DocumentId | None = None
    ) -> ForgetReceipt:
        """Of one item, or of every item of the dataset: what was derived from it is found no more and erased.

        Items and their originals stay, as after `stage`, until `take_up` or remembering them again. One job for
        each item that had a memory.
        """
        await self.dataset_named(scope, dataset, permission=Permission.DELETE)
        if document is None:
            return await self._forgetter.forget_dataset_memory(scope, dataset)
        return await self._forgetter.forget_item_memory(scope, dataset, document)

    async def suppress_item(self, scope: Scope, dataset: DatasetId, document: DocumentId) -> Receipt:
        """Hidden from every reader when this returns, and kept; raises `NotFoundError` if it is not there.

        What is remembered under its name meanwhile becomes a version of it and stays hidden too.
        """
        await self.dataset_named(scope, dataset, permission=Permission.WRITE)
        return await self._suppressor.suppress_item(scope, dataset, document)

    async def restore_item(self, scope: Scope, dataset: DatasetId, document: DocumentId) -> Receipt:
        """As it was before it was suppressed, found again once its job is complete."""
        await self.dataset_named(scope, dataset, permission=Permission.WRITE)
        return await self._suppressor.restore_item(scope, dataset, document)

    async def forget_everything(self, scope: Scope) -> ForgetReceipt:
        """All that the caller owns, sessions too; never what others own."""
        return await self._forgetter.forget_everything(scope)

    async def job(self, scope: Scope, job: JobId) -> Job:
        return await follow.read_job(self._catalog, scope, job)

    async def job_steps(self, scope: Scope, job: JobId) -> Sequence[JobStep]:
        return await follow.read_steps(self._catalog, scope, job)

    async def jobs(
        self,
        scope: Scope,
        *,
        datasets: Sequence[DatasetId] = (),
        stages: Sequence[Stage] = (),
        before: tuple[int, JobId] | None = None,
        limit: int = 50,
    ) -> Sequence[Job]:
        """Newest first; `before` is the (accepted_ms, id) of the last one seen."""
        return await follow.list_jobs(
            self._catalog, scope, datasets=datasets, stages=stages, before=before, limit=limit
        )

    async def wait(
        self,
        scope: Scope,
        job: JobId,
        *,
        until: follow.Goal,
        budget_s: float,
        progress: follow.Progress | None = None,
    ) -> Job:
        """The job once it got there, or as it stands after `budget_s`; cancelling the wait never touches it."""
        return await follow.wait(self._catalog, scope, job, until, budget_s, progress)

    async def retry(self, scope: Scope, job: JobId, *, idempotency: IdempotencyKey | None = None) -> Receipt:
        """A new job for a failed one's content; raises `ConflictError` or `SupersededError` if that is out."""
        await follow.read_job(self._catalog, scope, job)
        return await self._acceptor.retry(scope, job, idempotency)

    async def cancel(self, scope: Scope, job: JobId) -> Job:
        """One's own job, before what it brings is searchable; raises `ConflictError` after that."""
        return await stop(self._catalog, self._ports.bus, scope, job)

    async def recall(self, scope: Scope, request: RecallRequest) -> RecallResult:
        return await self._pipeline.recall(scope, request)

    async def audit(self, scope: Scope) -> AuditReport:
        """Whether catalog, blobs, graph and vectors tell the same of what the caller owns; changes nothing."""
        return await self._auditor.audit(scope)

    async def repair(self, scope: Scope, report: AuditReport) -> Sequence[Job]:
        """Changes that put right what the report names, where that can be; an audit tells what is left."""
        return await self._repairs.repair(scope, report)

    def export(self, scope: Scope, what: What) -> AsyncIterator[ExportRow]:
        """Everything of the readable datasets in one canonical order; narrow the scope for fewer."""
        return Exporter(self._ports).export(scope, what)

    def running(self) -> AbstractAsyncContextManager[None]:
        """Extraction, applying and sweeping in this process until the block ends; leaving drains them."""
        return self._loops.running()

    async def shared_secret(self, name: str) -> bytes:
        """32 bytes that every process of this memory gets alike, made with the first one that asks."""
        async with self._catalog.transaction() as tx:
            secret = await tx.access.secret(name, secrets.token_hex(32))
            await tx.commit()
        return bytes.fromhex(secret)

    def is_alive(self) -> bool:
        """Whether this process still hears of work. One that does not should be started again."""
        return self._ports.bus.is_alive()

    async def check_ready(self) -> None:
        """Raises `UnavailableError` naming the part that does not answer."""
        await self._catalog.check()

    async def troubles(self, scope: Scope) -> Health:
        """What is wrong with the parts of this engine; empty when all is well."""
        return await troubles(self._ports, scope)

    def language_model(self) -> LanguageModelUse | None:
        """The one this process asks, if it asks one."""
        return self._ports.language_model()


def _with(scope: Scope, dataset: Dataset) -> Scope:
    """The scope again, now that the dataset exists; access was checked when it was named."""
    return replace(scope, readable=scope.readable | {dataset.id}, writable=scope.writable | {dataset.id})
