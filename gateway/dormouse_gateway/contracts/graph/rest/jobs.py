"""GET /api/v1/jobs and one of them: the receipts of writes. Source: writes §4."""

from collections.abc import Sequence

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.errors import InvalidInputError
from dormouse.ids import JobId
from dormouse.model.job import Job, Stage
from dormouse.model.scope import Permission
from dormouse_gateway.contracts.graph.rest.call import WAIT_S, Call, Served, answer
from dormouse_gateway.contracts.graph.rest.receipts import JobView, job_view
from dormouse_gateway.web.idempotency import IDEMPOTENCY_KEY, idempotency_of
from dormouse_gateway.web.instants import iso
from dormouse_gateway.web.operation import Answer, Operation, Parameter, path_parameter
from dormouse_gateway.web.pagination import CURSOR, cursor_of, limit_of, limit_parameter, position_of

MOST = 200
RETRY_ROUTE = "POST /api/v1/jobs/retry"
_JOB = path_parameter("job", "The id that the write answered with.")


class JobPage(TypedDict):
    """`nextCursor` is null on the last page."""

    jobs: list[JobView]
    nextCursor: str | None


class StepView(TypedDict):
    stage: str
    at: str


class JobWithSteps(JobView):
    steps: list[StepView]


LIST_JOBS = Operation(
    "Receipts of writes, newest first",
    "jobs",
    {200: Answer("One's own jobs, and those of the datasets that were named.", JobPage)},
    parameters=(
        Parameter(
            "dataset",
            "Name or id; may be repeated.",
            {"type": "array", "items": {"type": "string"}, "maxItems": 100},
        ),
        Parameter(
            "stage",
            "May be repeated.",
            {"type": "array", "items": {"type": "string", "enum": [stage.value for stage in Stage]}},
        ),
        limit_parameter(default=50, most=MOST),
        CURSOR,
    ),
    refusals=(404,),
)
READ_JOB = Operation(
    "One receipt",
    "jobs",
    {200: Answer("The job as it stands.", JobWithSteps)},
    parameters=(
        _JOB,
        Parameter(
            "wait",
            "Seconds to wait until the job is searchable or final.",
            {"type": "integer", "minimum": 0, "maximum": int(WAIT_S), "default": 0},
        ),
    ),
)


RETRY_JOB = Operation(
    "Try the content of one's own failed job again",
    "jobs",
    {200: Answer("The new job.", JobView)},
    parameters=(_JOB, IDEMPOTENCY_KEY),
    refusals=(403, 404, 409, 422),
)
CANCEL_JOB = Operation(
    "Cancel one's own job before its content is searchable",
    "jobs",
    {200: Answer("The job, cancelled.", JobView)},
    parameters=(_JOB,),
    refusals=(403, 404, 409),
)


async def list_jobs(call: Call) -> Response:
    """Newest first; `dataset` (name or id) and `stage` may be repeated."""
    query = call.request.query_params
    limit, before = limit_of(query, default=50, most=MOST), position_of(query, (int, str))
    datasets = [
        (await call.engine.dataset_named(call.scope, name, permission=Permission.READ)).id
        for name in query.getlist("dataset")[:100]
    ]
    stages = [_stage(name) for name in query.getlist("stage")]
    start = (int(before[0]), JobId(str(before[1]))) if before else None
    found = await call.engine.jobs(call.scope, datasets=datasets, stages=stages, before=start, limit=limit + 1)
    page = found[:limit]
    more = cursor_of([page[-1].accepted_ms, page[-1].id]) if len(found) > limit else None
    return answer({"jobs": await _views(call, page), "nextCursor": more})


async def read_job(call: Call) -> Response:
    """With `wait` (seconds, at most 50) it answers when the job is searchable or final, or the time is over."""
    query = call.request.query_params
    job_id = JobId(call.request.path_params["job"])
    budget_s = _wait_s(query.get("wait", "0"))
    job = await call.engine.job(call.scope, job_id)
    if budget_s:
        job = await call.engine.wait(call.scope, job_id, until="searchable", budget_s=budget_s)
    steps = await call.engine.job_steps(call.scope, job_id)
    (view,) = await _views(call, [job])
    return answer({**view, "steps": [{"stage": step.stage.value, "at": iso(step.at_ms)} for step in steps]})


async def retry_job(call: Call) -> Response:
    """A new job for the content of one that failed; `retryOf` names the old one."""
    wanted = JobId(call.request.path_params["job"])
    key = idempotency_of(call.request, RETRY_ROUTE, (wanted.encode("utf-8", "replace"),))
    receipt = await call.engine.retry(call.scope, wanted, idempotency=key)
    (view,) = await _views(call, [receipt.job])
    return answer(view)


async def cancel_job(call: Call) -> Response:
    """The job, cancelled; repeating it changes nothing."""
    job = await call.engine.cancel(call.scope, JobId(call.request.path_params["job"]))
    (view,) = await _views(call, [job])
    return answer(view)


async def _views(call: Call, jobs: Sequence[Job]) -> list[JobView]:
    names = await call.engine.document_names(call.scope, [job.document for job in jobs if job.document])
    return [job_view(job, names.get(job.document) if job.document else None) for job in jobs]


def _stage(name: str) -> Stage:
    try:
        return Stage(name)
    except ValueError as exc:
        raise InvalidInputError(f"stage must be one of {', '.join(Stage)}", field="stage") from exc


def _wait_s(text: str) -> float:
    if not (text.isascii() and text.isdecimal() and int(text) <= WAIT_S):
        raise InvalidInputError(f"wait must be whole seconds from 0 to {WAIT_S:.0f}", field="wait")
    return float(text)


ROUTES = (
    Served("GET", "/jobs", list_jobs, LIST_JOBS),
    Served("GET", "/jobs/{job}", read_job, READ_JOB),
    Served("POST", "/jobs/{job}/retry", retry_job, RETRY_JOB),
    Served("POST", "/jobs/{job}/cancel", cancel_job, CANCEL_JOB),
)
