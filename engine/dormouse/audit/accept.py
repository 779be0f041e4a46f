"""Accepting repairs: one change for each item and each dataset that an audit named, items first."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from dormouse import telemetry
from dormouse.access.lookup import scope_of
from dormouse.errors import UnavailableError
from dormouse.ids import DatasetId, DocumentId, new_job_id
from dormouse.model.audit import AuditReport, Drift
from dormouse.model.change import Change, ChangeKind
from dormouse.model.job import Job, JobKind, Stage
from dormouse.model.scope import Scope
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.ports.message_bus import MessageBus


class RepairAcceptor:
    """`sweep_blobs` removes those that nothing names."""

    def __init__(self, catalog: Catalog, bus: MessageBus, sweep_blobs: Callable[[], Awaitable[int]]) -> None:
        self._catalog = catalog
        self._bus = bus
        self._sweep_blobs = sweep_blobs

    async def repair(self, scope: Scope, report: AuditReport) -> Sequence[Job]:
        """What to wait for; what the report says is looked at again before anything is done."""
        if any(each.drift is Drift.BLOB_UNNAMED for each in report.findings):
            telemetry.drift_repaired(Drift.BLOB_UNNAMED.value, await self._sweep_blobs())
        async with self._catalog.transaction() as tx:
            await tx.changes.lock(scope.workspace)
            places = _places(await _now(tx, scope), report)
            jobs = [await _accept(tx, scope, dataset, document) for dataset, document in places]
            await tx.commit()
        if jobs:
            try:
                await self._bus.ring_apply(scope.workspace)
            except UnavailableError:
                return jobs  # the change rows are the outbox: the sweeper rings again
        return jobs


async def _now(tx: CatalogTransaction, scope: Scope) -> Scope:
    """What of the scope still holds: a grant may have been taken back since the audit began."""
    current = await scope_of(tx, scope.principal, scope.workspace)
    return replace(
        scope,
        readable=scope.readable & current.readable,
        writable=scope.writable & current.writable,
        deletable=scope.deletable & current.deletable,
    )


def _places(scope: Scope, report: AuditReport) -> list[tuple[DatasetId, DocumentId | None]]:
    """Items, then their datasets, whose term counts depend on them."""
    found = [
        (each.dataset, each.document)
        for each in report.findings
        if each.drift.is_repairable and each.dataset is not None and each.dataset in scope.writable
    ]
    items = [place for place in found if place[1] is not None]
    return list(dict.fromkeys([*items, *((dataset, None) for dataset, _ in found)]))


async def _accept(tx: CatalogTransaction, scope: Scope, dataset: DatasetId, document: DocumentId | None) -> Job:
    job = Job(
        id=new_job_id(),
        workspace=scope.workspace,
        principal=scope.principal,
        kind=JobKind.REPAIR,
        dataset=dataset,
        document=document,
        revision=0,
        stage=Stage.ACCEPTED,
        accepted_ms=tx.now_ms,
        updated_ms=tx.now_ms,
    )
    await tx.jobs.add(job)
    await tx.changes.append(
        Change(
            workspace=scope.workspace,
            seq=0,
            job=job.id,
            part=-1,
            kind=ChangeKind.REPAIR,
            dataset=dataset,
            document=document,
            generation=(await tx.datasets.get(dataset)).generation,
            revision=0,
            blob=None,
            change_set=None,
        )
    )
    return job
