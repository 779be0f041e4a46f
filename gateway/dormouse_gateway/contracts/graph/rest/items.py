"""/api/v1/datasets/{id}/data: the items of one dataset, and the bytes they came as.

Source: contract-graph, "REST"; recorded cases data_*, processing_status.
"""

import json
import mimetypes
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.ids import DatasetId, DocumentId
from dormouse.model.document import Item
from dormouse.model.scope import Permission
from dormouse_gateway.contracts.graph.rest.call import Call, Served, answer
from dormouse_gateway.contracts.graph.rest.datasets import DATASET
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

MOST = 1000
DATA: Parameter = path_parameter("data", "The id of an item of the dataset.")


class ItemView(TypedDict):
    """`rawDataLocation` stays null: where the server keeps it is nobody's business."""

    id: str
    name: str
    createdAt: str
    updatedAt: str
    extension: str
    mimeType: str
    rawDataLocation: None
    datasetId: str
    label: str | None
    externalMetadata: dict[str, Any] | None
    dataSize: int
    externalId: str | None
    revision: int
    isSearchable: bool
    isStaged: bool
    isSuppressed: bool


class CountView(TypedDict):
    count: int


class ProcessedView(TypedDict):
    id: str
    name: str
    completed: bool


class ProcessingView(TypedDict):
    """Of the items of this page."""

    total: int
    completed: int
    pending: int
    items: list[ProcessedView]


LIST_DATA = Operation(
    "The items of one dataset, by id",
    "datasets",
    {200: Answer("The items.", list[ItemView], headers=(NEXT_CURSOR,))},
    parameters=(DATASET, limit_parameter(default=100, most=MOST), CURSOR),
)
COUNT_DATA = Operation(
    "How many items a dataset has", "datasets", {200: Answer("The number.", CountView)}, parameters=(DATASET,)
)
READ_PROCESSING = Operation(
    "Which items are searchable in the version that was handed over last",
    "datasets",
    {200: Answer("The items of this page and their number.", ProcessingView, headers=(NEXT_CURSOR,))},
    parameters=(
        DATASET,
        Parameter("pipeline", "Accepted for clients of the contract; there is one pipeline to tell of."),
        limit_parameter(default=MOST, most=MOST),
        CURSOR,
    ),
)
READ_DATA = Operation("One item", "datasets", {200: Answer("The item.", ItemView)}, parameters=(DATASET, DATA))
READ_RAW = Operation(
    "The original bytes of an item, as a download",
    "datasets",
    {200: Answer("The bytes as they were handed over.", media="application/octet-stream")},
    parameters=(DATASET, DATA),
)


async def list_data(call: Call) -> Response:
    """The items of one dataset, by id."""
    found, headers = await _page(call, default=100)
    return answer([item_view(each) for each in found], headers=headers)


async def count_data(call: Call) -> Response:
    dataset = await _dataset(call)
    summaries = await call.engine.datasets(call.scope)
    return answer({"count": next((each.documents for each in summaries if each.dataset.id == dataset), 0)})


async def read_processing(call: Call) -> Response:
    """GET /api/v1/datasets/{id}/processing-status: which items of this page are searchable as they are now."""
    found, headers = await _page(call, default=MOST)
    rows = [{"id": each.document.id, "name": each.document.name, "completed": is_done(each)} for each in found]
    completed = sum(is_done(each) for each in found)
    counts = {"total": len(found), "completed": completed, "pending": len(found) - completed}
    return answer({**counts, "items": rows}, headers=headers)


async def read_data(call: Call) -> Response:
    """GET /api/v1/datasets/{id}/data/{data_id}: one item as the list shows it."""
    return answer(item_view(await call.engine.item(call.scope, await _dataset(call), _document(call))))


async def read_raw(call: Call) -> Response:
    """The original bytes, to be saved and never shown: a page must not run from the memory's own address."""
    original = await call.engine.original(call.scope, await _dataset(call), _document(call))
    headers = {
        "Content-Disposition": disposition_of(original.name),
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-store",  # a copy in a cache would outlive a forget
    }
    return Response(original.body, media_type=media_type_of(original.name), headers=headers)


def item_view(item: Item) -> ItemView:
    document, newest = item.document, item.newest
    about = newest.options.get("external_metadata")
    return {
        "id": document.id,
        "name": document.name,
        "createdAt": iso(document.created_ms),
        "updatedAt": iso(document.updated_ms),
        "extension": PurePosixPath(document.name).suffix.removeprefix("."),
        "mimeType": media_type_of(document.name),
        "rawDataLocation": None,
        "datasetId": document.dataset,
        "label": newest.options.get("label"),
        "externalMetadata": json.loads(about) if about else None,
        "dataSize": newest.size_bytes,
        "externalId": document.external_id,
        "revision": document.newest_revision,
        "isSearchable": document.searchable_revision > 0,
        "isStaged": newest.is_staged,
        "isSuppressed": document.is_suppressed,
    }


def is_done(item: Item) -> bool:
    """Searchable in the version that was handed over last."""
    return item.document.searchable_revision == item.document.newest_revision


def media_type_of(name: str) -> str:
    """By the name alone; what has none is the text it was sent as."""
    return mimetypes.guess_type(name)[0] or "text/plain"


def disposition_of(name: str) -> str:
    """RFC 6266 with an encoded name: no quote, line end or letter of it can end the header. The last part
    only, since where the item lay is not a place to save it to."""
    last = PurePosixPath(name).name or "item"
    return f"attachment; filename*=UTF-8''{quote(last, safe='', errors='replace')}"


async def _page(call: Call, *, default: int) -> tuple[list[Item], dict[str, str]]:
    query = call.request.query_params
    limit, after = limit_of(query, default=default, most=MOST), position_of(query, (str,))
    start = DocumentId(str(after[0])) if after else None
    found = await call.engine.items(call.scope, await _dataset(call), after=start, limit=limit + 1)
    more = {NEXT_HEADER: cursor_of([found[limit - 1].document.id])} if len(found) > limit else {}
    return list(found[:limit]), more


async def _dataset(call: Call) -> DatasetId:
    wanted = call.request.path_params["dataset"]
    return (await call.engine.dataset_named(call.scope, wanted, permission=Permission.READ)).id


def _document(call: Call) -> DocumentId:
    return DocumentId(call.request.path_params["data"])


ROUTES = (
    Served("GET", "/datasets/{dataset}/data", list_data, LIST_DATA),
    Served("GET", "/datasets/{dataset}/data/count", count_data, COUNT_DATA),
    Served("GET", "/datasets/{dataset}/data/{data}", read_data, READ_DATA),
    Served("GET", "/datasets/{dataset}/data/{data}/raw", read_raw, READ_RAW),
    Served("GET", "/datasets/{dataset}/processing-status", read_processing, READ_PROCESSING),
)
