"""GET /api/v1/audit and POST /api/v1/repair: whether all stores tell the same, and putting it right.

Both read everything the caller owns, which takes a while for a large memory.
"""

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.model.audit import REMEDIES, AuditReport, Finding
from dormouse_gateway.contracts.graph.rest.call import Call, Served, answer
from dormouse_gateway.contracts.graph.rest.receipts import JobView, job_view
from dormouse_gateway.web.operation import Answer, Operation


class FindingView(TypedDict):
    """`datasetId` and `documentId` are null for what belongs to the whole workspace or dataset."""

    code: str
    count: int
    datasetId: str | None
    documentId: str | None
    examples: list[str]
    isRepairable: bool
    meaning: str


class AuditView(TypedDict):
    """`unsettledDatasets` were written to all the while: nothing is said of them."""

    isSound: bool
    datasets: int
    documents: int
    passages: int
    findings: list[FindingView]
    unsettledDatasets: list[str]


class RepairView(TypedDict):
    """`before` is what was found, `after` what is left once `jobs` are done; null while they go on."""

    before: AuditView
    jobs: list[JobView]
    after: AuditView | None


AUDIT = Operation(
    "Whether catalog, blobs, graph and vectors tell the same of what the caller owns",
    "server",
    {200: Answer("No findings if all is well. Nothing is changed.", AuditView)},
)
REPAIR = Operation(
    "Put right what an audit finds, where that can be",
    "server",
    {
        200: Answer("Done, with what is left.", RepairView),
        202: Answer("Accepted, and the jobs go on.", RepairView),
    },
)


async def audit(call: Call) -> Response:
    return answer(_view(await call.engine.audit(call.scope)))


async def repair(call: Call) -> Response:
    before = await call.engine.audit(call.scope)
    accepted = await call.engine.repair(call.scope, before)
    jobs = await call.waited([job.id for job in accepted], "final")
    is_done = all(job.stage.is_final for job in jobs)
    after = await call.engine.audit(call.scope) if jobs and is_done else before
    view: RepairView = {
        "before": _view(before),
        "jobs": [job_view(job) for job in jobs],
        "after": _view(after) if is_done else None,
    }
    return answer(view, status=200 if is_done else 202)


def _view(report: AuditReport) -> AuditView:
    return {
        "isSound": report.is_sound,
        "datasets": report.datasets,
        "documents": report.documents,
        "passages": report.passages,
        "findings": [_finding(each) for each in report.findings],
        "unsettledDatasets": list(report.unsettled),
    }


def _finding(each: Finding) -> FindingView:
    return {
        "code": each.drift.value,
        "count": each.count,
        "datasetId": each.dataset,
        "documentId": each.document,
        "examples": list(each.examples),
        "isRepairable": each.drift.is_repairable,
        "meaning": REMEDIES[each.drift],
    }


ROUTES = (
    Served("GET", "/audit", audit, AUDIT),
    Served("POST", "/repair", repair, REPAIR),
)
