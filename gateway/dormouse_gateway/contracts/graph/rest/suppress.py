"""POST /api/v1/datasets/{id}/data/{id}/suppress and restore: hide an item, and show it again unchanged.

Suppressed is hidden from every reader when it answers. Restored is found again when the job is complete, which
the answer waits for.
"""

from starlette.responses import Response

from dormouse.ids import DatasetId, DocumentId
from dormouse.model.receipt import Receipt
from dormouse.model.scope import Permission
from dormouse_gateway.contracts.graph.rest.call import Call, answer
from dormouse_gateway.contracts.graph.rest.datasets import DATASET
from dormouse_gateway.contracts.graph.rest.items import DATA
from dormouse_gateway.contracts.graph.rest.receipts import JobView, job_view
from dormouse_gateway.web.operation import Answer, Operation

_ANSWERS = {
    200: Answer("The job; nothing was to do if it is a duplicate.", JobView),
    202: Answer("Accepted, and the job goes on.", JobView),
}

SUPPRESS = Operation(
    "Hide an item from every recall, without forgetting it",
    "datasets",
    _ANSWERS,
    "What is remembered under its name meanwhile becomes a version of it and stays hidden too.",
    parameters=(DATASET, DATA),
)
RESTORE = Operation("Show an item again that was suppressed", "datasets", _ANSWERS, parameters=(DATASET, DATA))


async def suppress(call: Call) -> Response:
    dataset, document = await _named(call)
    return await _settled(call, await call.engine.suppress_item(call.scope, dataset, document))


async def restore(call: Call) -> Response:
    dataset, document = await _named(call)
    return await _settled(call, await call.engine.restore_item(call.scope, dataset, document))


async def _named(call: Call) -> tuple[DatasetId, DocumentId]:
    named = call.request.path_params["dataset"]
    dataset = await call.engine.dataset_named(call.scope, named, permission=Permission.WRITE)
    return dataset.id, DocumentId(call.request.path_params["data"])


async def _settled(call: Call, receipt: Receipt) -> Response:
    (job,) = await call.waited([receipt.job.id], "final")
    return answer(job_view(job), status=200 if job.stage.is_final else 202)
