"""GET /api/v1/status: what the command line and the doctor need to know of a running server."""

import os
from importlib.metadata import version

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse_gateway.contracts.graph.rest.call import Call, answer
from dormouse_gateway.web.operation import Answer, Operation

DISTRIBUTION = "dormouse-memory"


class TroubleView(TypedDict):
    code: str
    message: str


class StatusView(TypedDict):
    status: str
    version: str
    pid: int
    principal: str
    datasets: int
    documents: int
    passages: int
    unfinishedJobs: int
    problems: list[TroubleView]


READ_STATUS = Operation(
    "Whether everything is ready, and how much the caller may read",
    "server",
    {200: Answer("`problems` is empty when all parts are ready.", StatusView)},
)


async def read_status(call: Call) -> Response:
    """Counts are of what the caller may read; `problems` names parts that are not ready, empty when all are."""
    summaries = await call.engine.datasets(call.scope)
    problems = [
        {"code": trouble.code, "message": str(trouble)} for trouble in await call.engine.troubles(call.scope)
    ]
    return answer(
        {
            "status": "ready" if not problems else "not ready",
            "version": version(DISTRIBUTION),
            "pid": os.getpid(),
            "principal": call.scope.principal,
            "datasets": len(summaries),
            "documents": sum(summary.documents for summary in summaries),
            "passages": sum(summary.passages for summary in summaries),
            "unfinishedJobs": sum(summary.unfinished_jobs for summary in summaries),
            "problems": problems,
        }
    )
