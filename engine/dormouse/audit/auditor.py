"""The auditor: reads everything, compares, counts and reports; it never changes anything.

A dataset is judged only if its changes stood still while it was read, else it is read again: writes on their
way are no drift. Source: writes §7; promise P4.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

from dormouse import telemetry
from dormouse.access.writer import writer_scope
from dormouse.audit.documents import documents_of
from dormouse.audit.held import HeldReader
from dormouse.audit.judge import finding, judge
from dormouse.audit.truth import Truth, TruthReader, counted_in, lacking, terms_of
from dormouse.ids import BlobKey, DatasetId, PassageId
from dormouse.model.audit import AuditReport, Drift, Finding
from dormouse.model.dataset import Dataset
from dormouse.model.passage import PassageKind
from dormouse.model.scope import Scope
from dormouse.ports.bundle import Ports

TRIES = 3
LONG_MS = 3600 * 1000  # a change that waits longer tells of trouble
YOUNG_BLOB_MS = 25 * 3600 * 1000  # the sweeper takes what nobody names after a day
BLOBS_AT_ONCE = 500


@dataclass(slots=True)
class _Dataset:
    """What one reading of a dataset found; `is_whole` if every part of it could be read. `said` counts the
    passages that no model derived."""

    findings: list[Finding] = field(default_factory=list)
    documents: int = 0
    passages: set[PassageId] = field(default_factory=set)
    points: set[PassageId] = field(default_factory=set)
    terms: Counter[int] = field(default_factory=Counter)
    counted: int = 0
    said: int = 0
    is_whole: bool = True


class Auditor:
    def __init__(self, ports: Ports) -> None:
        self._catalog, self._blobs, self._clock = ports.catalog, ports.blobs, ports.clock
        self._graph, self._upkeep, self._vectors = ports.graph, ports.graph_upkeep, ports.vectors
        self._held = HeldReader(ports)
        self._truth = TruthReader(ports.catalog, ports.blobs)

    async def audit(self, scope: Scope) -> AuditReport:
        """Of the caller's own datasets, forgotten ones too, and of the workspace's blobs and changes."""
        async with self._catalog.reading() as tx:
            datasets = await tx.datasets.owned_by(scope.workspace, scope.principal)
        report = AuditReport(tuple(await self._workspace(scope)), sum(each.listed for each in datasets), 0, 0)
        for dataset in datasets:
            read = await self._settled(dataset)
            if read is None:
                report = replace(report, unsettled=(*report.unsettled, dataset.id))
                continue
            report = replace(
                report,
                findings=(*report.findings, *read.findings),
                documents=report.documents + read.documents,
                passages=report.passages + read.said,
            )
        for each in report.findings:
            telemetry.drift_found(each.drift.value, each.count)
        return report

    async def _settled(self, dataset: Dataset) -> _Dataset | None:
        """What was read while nothing changed; None if it never stood still."""
        for _ in range(TRIES):
            async with self._catalog.reading() as tx:
                before = await tx.past.standing(dataset.id)
            read = await self._read(dataset)
            async with self._catalog.reading() as tx:
                after = await tx.past.standing(dataset.id)
                is_same = (await tx.datasets.get(dataset.id)).generation == dataset.generation
            if before == after and not after.unapplied and is_same:
                return read
        return None

    async def _read(self, dataset: Dataset) -> _Dataset:
        read = _Dataset()
        scope = writer_scope(dataset.workspace, dataset.id)
        async for document in documents_of(self._catalog, dataset.id):
            truth = await self._truth.of(document, is_thorough=True)
            held = await self._held.of(scope, document)
            read.findings += judge(truth, held)
            read.passages.update(held.passages)
            read.points.update(held.marks)
            read.said += sum(each.kind is not PassageKind.DERIVED for each in held.passages.values())
            _count(read, truth)
        await self._leftovers(scope, dataset.id, read)
        if read.is_whole:
            await self._statistics(dataset.id, read)
        return read

    async def _leftovers(self, scope: Scope, dataset: DatasetId, read: _Dataset) -> None:
        """Rows of no live document, and rows that hang on nothing."""
        left: set[str] = set()
        if (await self._graph.count(scope)).passages != len(read.passages):
            left |= {each.id async for each in self._held.passages(scope) if each.id not in read.passages}
        if await self._vectors.count(scope) != len(read.points):
            left |= {each.passage async for each in self._held.marks(scope) if each.passage not in read.points}
        if left:
            read.findings.append(finding(Drift.LEFTOVER, left, (dataset, None)))
        if strays := await self._upkeep.strays(scope):
            read.findings.append(Finding(Drift.GRAPH_STRAY, strays, dataset))

    async def _statistics(self, dataset: DatasetId, read: _Dataset) -> None:
        total, stored = await self._held.terms(dataset)
        wrong = [str(term) for term in lacking(read.terms, stored)]
        if wrong or total != read.counted:
            found = finding(Drift.TERMS_WRONG, wrong, (dataset, None))
            read.findings.append(replace(found, count=max(found.count, 1)))

    async def _workspace(self, scope: Scope) -> list[Finding]:
        found = [Finding(Drift.BLOB_UNNAMED, unnamed)] if (unnamed := await self._unnamed(scope)) else []
        async with self._catalog.reading() as tx:
            waiting = await tx.changes.next_unapplied(scope.workspace)
            given, in_log = await tx.past.highest(scope.workspace)
            if waiting is not None:
                accepted_ms = (await tx.jobs.get(waiting.job)).accepted_ms
                if tx.now_ms - accepted_ms > LONG_MS:
                    count = await tx.past.unapplied_count(scope.workspace)
                    found.append(Finding(Drift.CHANGE_WAITING, count))
        if given < in_log:
            found.append(Finding(Drift.CHANGES_MISNUMBERED, in_log - given))
        return found

    async def _unnamed(self, scope: Scope) -> int:
        """Blobs that nothing names, older than what the sweeper waits for."""
        count = 0
        old: list[BlobKey] = []
        async for blob in self._blobs.list(scope.workspace):
            if self._clock.now_ms() - blob.modified_ms > YOUNG_BLOB_MS:
                old.append(blob.key)
            if len(old) >= BLOBS_AT_ONCE:
                count, old = count + await self._count_unnamed(old), []
        return count + await self._count_unnamed(old)

    async def _count_unnamed(self, blobs: list[BlobKey]) -> int:
        async with self._catalog.reading() as tx:
            return len(blobs) - len(await tx.blobs.named(blobs))


def _count(read: _Dataset, truth: Truth) -> None:
    read.documents += 1
    read.terms.update(terms_of(truth))
    read.counted += counted_in(truth)
    read.is_whole = read.is_whole and truth.is_whole
