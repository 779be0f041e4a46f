"""GET /api/v1/datasets and what lies in them. Plain arrays as recorded; the next cursor is in a header."""

import mimetypes
from pathlib import PurePosixPath

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.ids import DocumentId
from dormouse.model.dataset import DatasetSummary
from dormouse.model.document import Document
from dormouse.model.scope import Permission
from dormouse_gateway.contracts.graph.rest.call import Call, answer
from dormouse_gateway.contracts.graph.rest.receipts import DatasetView, dataset_view
from dormouse_gateway.web.instants import iso
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

DATASET: Parameter = path_parameter(
    "dataset", "The id of a dataset, or the name of one that the caller may read."
)


class DatasetSummaryView(DatasetView):
    documents: int
    passages: int
    unfinishedJobs: int


class DocumentView(TypedDict):
    """`rawDataLocation` stays null: where the server keeps it is nobody's business."""

    id: str
    name: str
    createdAt: str
    updatedAt: str
    extension: str
    mimeType: str
    rawDataLocation: None
    datasetId: str
    label: None
    externalMetadata: None
    dataSize: None
    externalId: str | None
    revision: int
    isSearchable: bool


LIST_DATASETS = Operation(
    "Everything the caller may read, by name",
    "datasets",
    {200: Answer("The datasets.", list[DatasetSummaryView], headers=(NEXT_CURSOR,))},
    parameters=(limit_parameter(default=1000, most=1000), CURSOR),
)
LIST_DATA = Operation(
    "The items of one dataset, by id",
    "datasets",
    {200: Answer("The items.", list[DocumentView], headers=(NEXT_CURSOR,))},
    parameters=(DATASET, limit_parameter(default=100, most=1000), CURSOR),
)


async def list_datasets(call: Call) -> Response:
    """Everything the caller may read, by name."""
    query = call.request.query_params
    limit, after = limit_of(query, default=1000, most=1000), position_of(query, (str, str))
    found = sorted(await call.engine.datasets(call.scope), key=_place)
    if after is not None:
        found = [summary for summary in found if _place(summary) > after]
    page = found[:limit]
    more = {NEXT_HEADER: cursor_of(_place(page[-1]))} if len(found) > limit else {}
    return answer([_summary_view(summary) for summary in page], headers=more)


async def list_data(call: Call) -> Response:
    """GET /api/v1/datasets/{id}/data: the items of one dataset, by id."""
    query = call.request.query_params
    limit, after = limit_of(query, default=100, most=1000), position_of(query, (str,))
    dataset = await call.engine.dataset_named(
        call.scope, call.request.path_params["dataset"], permission=Permission.READ
    )
    start = DocumentId(str(after[0])) if after else None
    found = await call.engine.documents(call.scope, dataset.id, after=start, limit=limit + 1)
    more = {NEXT_HEADER: cursor_of([found[limit - 1].id])} if len(found) > limit else {}
    return answer([_document_view(document) for document in found[:limit]], headers=more)


def _place(summary: DatasetSummary) -> list[str | int]:
    return [summary.dataset.name, summary.dataset.id]


def _summary_view(summary: DatasetSummary) -> DatasetSummaryView:
    return {
        **dataset_view(summary.dataset),
        "documents": summary.documents,
        "passages": summary.passages,
        "unfinishedJobs": summary.unfinished_jobs,
    }


def _document_view(document: Document) -> DocumentView:
    suffix = PurePosixPath(document.name).suffix
    return {
        "id": document.id,
        "name": document.name,
        "createdAt": iso(document.created_ms),
        "updatedAt": iso(document.updated_ms),
        "extension": suffix.removeprefix("."),
        "mimeType": mimetypes.guess_type(document.name)[0] or "text/plain",
        "rawDataLocation": None,
        "datasetId": document.dataset,
        "label": None,
        "externalMetadata": None,
        "dataSize": None,
        "externalId": document.external_id,
        "revision": document.newest_revision,
        "isSearchable": document.searchable_revision > 0,
    }
