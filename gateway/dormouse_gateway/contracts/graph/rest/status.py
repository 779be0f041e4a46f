"""GET /api/v1/status: what the command line and the doctor need to know of a running server."""

import os
from collections.abc import Sequence
from importlib.metadata import version

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.errors import DormouseError
from dormouse.model.health import LanguageModelUse
from dormouse_gateway.contracts.graph.rest.call import Call, answer
from dormouse_gateway.web.operation import Answer, Operation

DISTRIBUTION = "dormouse-memory"


class TroubleView(TypedDict):
    code: str
    message: str


class LanguageModelView(TypedDict):
    """`endpoint` is a host with its port, never with credentials; `lastError` the code of what the last call
    ended in, null if it was answered or none was made."""

    configured: bool
    model: str | None
    endpoint: str | None
    lastError: str | None


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
    warnings: list[TroubleView]
    languageModel: LanguageModelView


READ_STATUS = Operation(
    "Whether everything is ready, and how much the caller may read",
    "server",
    {
        200: Answer(
            "`problems` is empty when all parts are ready; `warnings` say what to do all the same.", StatusView
        )
    },
)


async def read_status(call: Call) -> Response:
    """Counts are of what the caller may read; `problems` names parts that are not ready, empty when all are."""
    summaries = await call.engine.datasets(call.scope)
    health = await call.engine.troubles(call.scope)
    return answer(
        {
            "status": "not ready" if health.problems else "ready",
            "version": version(DISTRIBUTION),
            "pid": os.getpid(),
            "principal": call.scope.principal,
            "datasets": len(summaries),
            "documents": sum(summary.documents for summary in summaries),
            "passages": sum(summary.passages for summary in summaries),
            "unfinishedJobs": sum(summary.unfinished_jobs for summary in summaries),
            "problems": _views(health.problems),
            "warnings": _views(health.warnings),
            "languageModel": _language_model(call.engine.language_model()),
        }
    )


def _views(troubles: Sequence[DormouseError]) -> list[TroubleView]:
    return [{"code": trouble.code, "message": str(trouble)} for trouble in troubles]


def _language_model(use: LanguageModelUse | None) -> LanguageModelView:
    if use is None:
        return {"configured": False, "model": None, "endpoint": None, "lastError": None}
    return {
        "configured": True,
        "model": use.model,
        "endpoint": use.host,
        "lastError": use.last_failure or None,
    }
