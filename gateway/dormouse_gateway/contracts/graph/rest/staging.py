"""POST /add, POST /cognify, PATCH /update: content in two steps, and new content for an item that is there.

What is added is durable and not extracted; cognify takes it up. Content that changed under a name is refused
by add and replaced by update.
Source: contract-graph, "REST"; recorded cases add_*, cognify_*.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NotRequired

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.errors import DocumentExistsError, InvalidInputError
from dormouse.ids import DocumentId
from dormouse.ingest.ontologies import option_of
from dormouse.model.dataset import Dataset
from dormouse.model.job import Job, Stage
from dormouse.model.scope import Permission
from dormouse_gateway.contracts.graph.rest.bodies import AddBody, CognifyBody, UpdateBody, parsed
from dormouse_gateway.contracts.graph.rest.call import Call, Served, answer
from dormouse_gateway.contracts.graph.rest.receipts import FailureView, failure_view
from dormouse_gateway.contracts.graph.rest.submission import ITEM_PARTS, hashed_parts, submitted, target_of
from dormouse_gateway.web.idempotency import IDEMPOTENCY_KEY, idempotency_of
from dormouse_gateway.web.limits import json_object
from dormouse_gateway.web.operation import Answer, Form, Operation, Parameter
from dormouse_gateway.web.problems import Problem, ProblemError

ADD_ROUTE, COGNIFY_ROUTE, UPDATE_ROUTE = "POST /api/v1/add", "POST /api/v1/cognify", "PATCH /api/v1/update"
MOST_DONE_BEFORE = 100  # items told of when nothing was to be done
_COMPLETED, _ALREADY, _STARTED, _ERRORED = (
    "PipelineRunCompleted",
    "PipelineRunAlreadyCompleted",
    "PipelineRunStarted",
    "PipelineRunErrored",
)


class RunView(TypedDict):
    """`pipeline_run_id` is a job's id; `error` is there when the item was refused or its job failed."""

    status: str
    pipeline_run_id: str | None
    dataset_id: str
    dataset_name: str
    payload: None
    data_ingestion_info: list["ItemRunView"] | None
    error: NotRequired[FailureView | str | None]


class ItemRunView(TypedDict):
    run_info: RunView
    data_id: str | None


_DONE = {
    200: Answer("By dataset: completed, or started when the work goes on.", dict[str, RunView]),
    409: Answer("By dataset: an item failed; the others stay.", dict[str, RunView]),
}
ADD = Operation(
    "Store files and texts without extracting them",
    "staging",
    {
        200: Answer("Everything is durable; `cognify` makes it searchable.", RunView),
        409: Answer("Other content is there under a name; the other items stay.", RunView),
    },
    parameters=(IDEMPOTENCY_KEY,),
    body=Form(AddBody, ITEM_PARTS),
    refusals=(403, 404, 422),
)
COGNIFY = Operation(
    "Make searchable what was added",
    "staging",
    _DONE,
    parameters=(IDEMPOTENCY_KEY,),
    body=CognifyBody,
    refusals=(403, 404, 422),
)
UPDATE = Operation(
    "Replace the content of one item, which keeps its id",
    "staging",
    _DONE,
    parameters=(
        Parameter("data_id", "The item.", is_required=True),
        Parameter("dataset_id", "Its dataset, by id or name.", is_required=True),
        IDEMPOTENCY_KEY,
    ),
    body=Form(UpdateBody, ITEM_PARTS),
    refusals=(403, 404, 422),
)


@dataclass(frozen=True, slots=True)
class _Line:
    """What became of one item; `job` is None when it was refused or nothing was to be done."""

    status: str
    item: str | None
    job: Job | None = None
    error: str = ""


async def add(call: Call) -> Response:
    body, contents = await submitted(call.request, AddBody)
    target_of(body)
    dataset = await _target(call, body)
    whole = idempotency_of(call.request, ADD_ROUTE, hashed_parts(body, contents))
    lines: list[_Line] = []
    found: Dataset | None = None
    for index, content in enumerate(contents):
        key = whole and replace(whole, route=f"{ADD_ROUTE} {index}")
        try:
            receipt = await call.engine.stage(call.scope, dataset, content, idempotency=key)
        except DocumentExistsError as exc:
            found = found or await call.engine.dataset_named(call.scope, dataset, permission=Permission.WRITE)
            if len(contents) == 1:
                raise _exists(exc, found) from None
            lines.append(_Line(_ERRORED, exc.document, error=str(exc)))
            continue
        found = receipt.dataset
        status = _ALREADY if receipt.job.is_duplicate else _COMPLETED
        lines.append(_Line(status, receipt.job.document, receipt.job))
    assert found
    is_whole = all(line.status != _ERRORED for line in lines)
    run = _run(found, _COMPLETED if is_whole else _ERRORED, lines)
    return answer(run, status=200 if is_whole else 409)


async def cognify(call: Call) -> Response:
    """Every dataset is known before the first one is touched. Blocks until all is searchable or the wait is
    over; the work goes on either way."""
    body = parsed(CognifyBody, await json_object(call.request))
    wanted = body.dataset_ids or body.datasets
    if not wanted:
        raise InvalidInputError("No datasets or dataset_ids provided", field="datasets")
    key = idempotency_of(
        call.request, COGNIFY_ROUTE, (body.model_dump_json(exclude={"run_in_background"}).encode(),)
    )
    datasets = [
        await call.engine.dataset_named(call.scope, name, permission=Permission.WRITE) for name in wanted
    ]
    options = {"custom_prompt": body.custom_prompt} if body.custom_prompt else {}
    options |= option_of(body.ontology_key)
    jobs: dict[str, list[Job]] = {}
    for dataset in datasets:
        receipts = await call.engine.take_up(call.scope, dataset.id, options=options, idempotency=key)
        jobs[dataset.id] = [receipt.job for receipt in receipts]
    runs = [(dataset, jobs[dataset.id]) for dataset in datasets]
    return await _answered(call, runs, waits=not body.run_in_background)


async def update(call: Call) -> Response:
    query = call.request.query_params
    item, place = query.get("data_id", ""), query.get("dataset_id", "")
    if not item or not place:
        raise InvalidInputError(
            "data_id and dataset_id must be given", field="dataset_id" if item else "data_id"
        )
    body, contents = await submitted(call.request, UpdateBody)
    if len(contents) != 1:
        raise InvalidInputError("data: an update has one item", field="data")
    key = idempotency_of(
        call.request, UPDATE_ROUTE, (item.encode(), place.encode(), *hashed_parts(body, contents))
    )
    dataset = await call.engine.dataset_named(call.scope, place, permission=Permission.WRITE)
    receipt = await call.engine.replace(call.scope, dataset.id, DocumentId(item), contents[0], idempotency=key)
    return await _answered(call, [(dataset, [receipt.job])], waits=not body.run_in_background)


async def _target(call: Call, body: AddBody) -> str:
    """A name may be new; an id must be of something that is there, or it would become a name."""
    if body.dataset_id is None:
        assert body.dataset_name
        return body.dataset_name
    return (await call.engine.dataset_named(call.scope, body.dataset_id, permission=Permission.WRITE)).id


async def _answered(call: Call, runs: Sequence[tuple[Dataset, list[Job]]], *, waits: bool) -> Response:
    found: dict[str, RunView] = {}
    everything = [job.id for _, jobs in runs for job in jobs]
    known = {job.id: job for job in await call.waited(everything, "searchable")} if waits else {}
    for dataset, jobs in runs:
        lines = [_line(known.get(job.id, job)) for job in jobs] or await _done_before(call, dataset)
        found[dataset.id] = _run(dataset, _together(lines), lines)
    failed = any(run["status"] == _ERRORED for run in found.values())
    return answer(found, status=409 if failed else 200)


async def _done_before(call: Call, dataset: Dataset) -> list[_Line]:
    items = await call.engine.items(call.scope, dataset.id, limit=MOST_DONE_BEFORE)
    return [_Line(_ALREADY, item.document.id) for item in items]


def _line(job: Job) -> _Line:
    if job.stage in (Stage.FAILED, Stage.CANCELLED):
        return _Line(_ERRORED, job.document, job)
    is_there = job.stage.is_searchable
    return _Line((_ALREADY if job.is_duplicate else _COMPLETED) if is_there else _STARTED, job.document, job)


def _together(lines: Sequence[_Line]) -> str:
    """One word for all: trouble first, then what still runs."""
    words = {line.status for line in lines}
    return next((word for word in (_ERRORED, _STARTED) if word in words), _COMPLETED)


def _run(dataset: Dataset, status: str, lines: Sequence[_Line]) -> RunView:
    run_id = next((line.job.id for line in lines if line.job), None)
    return {
        "status": status,
        "pipeline_run_id": run_id,
        "dataset_id": dataset.id,
        "dataset_name": dataset.name,
        "payload": None,
        "data_ingestion_info": [{"run_info": _item_run(dataset, line), "data_id": line.item} for line in lines],
    }


def _item_run(dataset: Dataset, line: _Line) -> RunView:
    run: RunView = {
        "status": line.status,
        "pipeline_run_id": line.job.id if line.job else None,
        "dataset_id": dataset.id,
        "dataset_name": dataset.name,
        "payload": None,
        "data_ingestion_info": None,
    }
    error = line.error or (failure_view(line.job.failure) if line.job else None)
    return {**run, "error": error} if error else run


def _exists(error: DocumentExistsError, dataset: Dataset) -> ProblemError:
    """The recorded text: it names the call that replaces."""
    detail = (
        f"POST /api/v1/add does not update documents. '{error.name}' (data_id {error.document}) already exists "
        f"in dataset {dataset.id} with different content. Send the new version to "
        f"PATCH /api/v1/update?data_id={error.document}&dataset_id={dataset.id} (multipart field 'data'); "
        "identical content can be re-added and is a no-op."
    )
    return ProblemError(Problem(error.code, detail))


ROUTES = (
    Served("POST", "/add", add, ADD),
    Served("POST", "/cognify", cognify, COGNIFY),
    Served("PATCH", "/update", update, UPDATE),
)
