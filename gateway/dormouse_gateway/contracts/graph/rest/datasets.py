"""/api/v1/datasets: what there is, making one, and how the memory of each stands.

Plain arrays and maps as recorded; the next cursor is in a header.
Source: contract-graph, "REST"; recorded cases dataset_*, status_*, progress_*.
"""

from collections.abc import Callable, Mapping

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.jobs.standing import Standing
from dormouse.model.dataset import DatasetSummary
from dormouse.model.scope import Permission
from dormouse_gateway.contracts.graph.rest.bodies import CreateDatasetBody, parsed
from dormouse_gateway.contracts.graph.rest.call import Call, Served, answer
from dormouse_gateway.contracts.graph.rest.receipts import DatasetView, dataset_view
from dormouse_gateway.web.idempotency import IDEMPOTENCY_KEY, idempotency_of
from dormouse_gateway.web.limits import json_object
from dormouse_gateway.web.operation import Answer, Operation, Parameter, path_parameter
from dormouse_gateway.web.pagination import (
    CURSOR,
    NEXT_CURSOR,
    NEXT_HEADER,
    cursor_of,
    limit_of,
    limit_parameter,
    position_of,
)

CREATE_ROUTE = "POST /api/v1/datasets"
COGNIFY_PIPELINE, ADD_PIPELINE = "cognify_pipeline", "add_pipeline"
MOST = 1000
MOST_NAMED = 100  # datasets or pipelines in one query

DATASET: Parameter = path_parameter(
    "dataset", "The id of a dataset, or the name of one that the caller may read."
)

_WORDS: Mapping[str, str] = {
    "running": "DATASET_PROCESSING_STARTED",
    "failed": "DATASET_PROCESSING_ERRORED",
    "done": "DATASET_PROCESSING_COMPLETED",
}

Shown = Callable[[str, Standing | None], object]


class DatasetSummaryView(DatasetView):
    documents: int
    passages: int
    unfinishedJobs: int
    staged: int


class ProgressView(TypedDict):
    """Passages that are applied, of those that there are."""

    completed_items: int
    total_items: int
    current_stage: str


class PipelineView(TypedDict):
    """`progress` is null unless work is under way and its size is known."""

    status: str
    progress: ProgressView | None


_NAMES: Mapping[str, object] = {"type": "array", "items": {"type": "string"}, "maxItems": MOST_NAMED}
_PAGED = (limit_parameter(default=MOST, most=MOST), CURSOR)
_ASKED = (
    Parameter("dataset", "Only this dataset, by id or name; may be repeated.", _NAMES),
    Parameter("pipeline", "`cognify_pipeline` unless given, or `add_pipeline`; may be repeated.", _NAMES),
    *_PAGED,
)
LIST_DATASETS = Operation(
    "Everything the caller may read, by name",
    "datasets",
    {200: Answer("The datasets.", list[DatasetSummaryView], headers=(NEXT_CURSOR,))},
    parameters=_PAGED,
)
CREATE_DATASET = Operation(
    "Make a dataset, or find one's own of this name",
    "datasets",
    {200: Answer("The dataset.", DatasetView)},
    parameters=(IDEMPOTENCY_KEY,),
    body=CreateDatasetBody,
    refusals=(422,),
)
READ_STATUSES = Operation(
    "Whether the memory of each dataset is being built, complete, or failed",
    "datasets",
    {
        200: Answer(
            "The status by dataset, or by dataset and pipeline when several are asked for; what never ran is "
            "left out.",
            dict[str, str | dict[str, str]],
            headers=(NEXT_CURSOR,),
        )
    },
    parameters=_ASKED,
    refusals=(404,),
)
READ_PROGRESS = Operation(
    "The same, with counts while work is under way",
    "datasets",
    {
        200: Answer(
            "Status and progress by dataset, or by dataset and pipeline.",
            dict[str, PipelineView | dict[str, PipelineView]],
            headers=(NEXT_CURSOR,),
        )
    },
    parameters=_ASKED,
    refusals=(404,),
)


async def list_datasets(call: Call) -> Response:
    """Everything the caller may read, by name."""
    page, headers = await _page(call)
    return answer([_summary_view(summary) for summary in page], headers=headers)


async def create_dataset(call: Call) -> Response:
    """One's own dataset of this name; making it again answers with the same one."""
    body = parsed(CreateDatasetBody, await json_object(call.request))
    key = idempotency_of(call.request, CREATE_ROUTE, (body.name.encode("utf-8", "replace"),))
    dataset = await call.engine.create_dataset(call.scope, body.name, idempotency=key)
    return answer(dataset_view(dataset))


async def read_statuses(call: Call) -> Response:
    """GET /api/v1/datasets/status: `{id: STATUS}`, or `{id: {pipeline: STATUS}}` when several are asked for."""
    return await _standings(call, lambda status, _: status)


async def read_progress(call: Call) -> Response:
    """GET /api/v1/datasets/status/progress: the same with counts while work is under way."""
    return await _standings(call, lambda status, standing: {"status": status, "progress": _progress(standing)})


async def _standings(call: Call, shown: Shown) -> Response:
    """A dataset or pipeline that never ran is left out, as recorded."""
    query = call.request.query_params
    pipelines = list(dict.fromkeys(query.getlist("pipeline")[:MOST_NAMED])) or [COGNIFY_PIPELINE]
    wanted = [
        (await call.engine.dataset_named(call.scope, name, permission=Permission.READ)).id
        for name in query.getlist("dataset")[:MOST_NAMED]
    ]
    page, headers = await _page(call)
    rows = [row for row in page if not wanted or row.dataset.id in wanted]
    standings = await call.engine.standings(call.scope, [row.dataset.id for row in rows])
    found: dict[str, object] = {}
    for row in rows:
        states = _states(pipelines, row, standings[row.dataset.id], shown)
        if states:
            found[row.dataset.id] = states if len(pipelines) > 1 else next(iter(states.values()))
    return answer(found, headers=headers)


def _states(pipelines: list[str], row: DatasetSummary, standing: Standing, shown: Shown) -> dict[str, object]:
    """What was accepted is added: there is nothing more to that pipeline."""
    states: dict[str, object] = {}
    for pipeline in pipelines:
        if pipeline == ADD_PIPELINE and row.documents:
            states[pipeline] = shown(_WORDS["done"], None)
        if pipeline == COGNIFY_PIPELINE and standing.state in _WORDS:
            states[pipeline] = shown(_WORDS[standing.state], standing)
    return states


def _progress(standing: Standing | None) -> ProgressView | None:
    """Passages, once their number is known."""
    if standing is None or standing.state != "running" or not standing.total:
        return None
    return {"completed_items": standing.done, "total_items": standing.total, "current_stage": "applying"}


async def _page(call: Call) -> tuple[list[DatasetSummary], dict[str, str]]:
    query = call.request.query_params
    limit, after = limit_of(query, default=MOST, most=MOST), position_of(query, (str, str))
    found = sorted(await call.engine.datasets(call.scope), key=_place)
    if after is not None:
        found = [summary for summary in found if _place(summary) > after]
    page = found[:limit]
    return page, {NEXT_HEADER: cursor_of(_place(page[-1]))} if len(found) > limit else {}


def _place(summary: DatasetSummary) -> list[str | int]:
    return [summary.dataset.name, summary.dataset.id]


def _summary_view(summary: DatasetSummary) -> DatasetSummaryView:
    return {
        **dataset_view(summary.dataset),
        "documents": summary.documents,
        "passages": summary.passages,
        "unfinishedJobs": summary.unfinished_jobs,
        "staged": summary.staged,
    }


ROUTES = (
    Served("GET", "/datasets", list_datasets, LIST_DATASETS),
    Served("POST", "/datasets", create_dataset, CREATE_DATASET),
    Served("GET", "/datasets/status", read_statuses, READ_STATUSES),
    Served("GET", "/datasets/status/progress", read_progress, READ_PROGRESS),
)
