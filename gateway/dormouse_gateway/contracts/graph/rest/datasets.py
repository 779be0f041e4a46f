"""GET /api/v1/datasets and what lies in them. Plain arrays as recorded; the next cursor is in a header."""

import mimetypes
from pathlib import PurePosixPath

from starlette.responses import Response

from dormouse.ids import DocumentId
from dormouse.model.dataset import DatasetSummary
from dormouse.model.document import Document
from dormouse.model.scope import Permission
from dormouse_gateway.contracts.graph.rest.call import Call, answer
from dormouse_gateway.contracts.graph.rest.receipts import dataset_view
from dormouse_gateway.web.instants import iso
from dormouse_gateway.web.pagination import NEXT_HEADER, cursor_of, limit_of, position_of, refuse_unknown

_PAGE = frozenset({"limit", "cursor"})


async def list_datasets(call: Call) -> Response:
    """Everything the caller may read, by name."""
    query = call.request.query_params
    refuse_unknown(query, _PAGE)
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
    refuse_unknown(query, _PAGE)
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


def _summary_view(summary: DatasetSummary) -> dict[str, object]:
    return {
        **dataset_view(summary.dataset),
        "documents": summary.documents,
        "passages": summary.passages,
        "unfinishedJobs": summary.unfinished_jobs,
    }


def _document_view(document: Document) -> dict[str, object]:
    """`rawDataLocation` stays null: where the server keeps it is nobody's business."""
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
