"""POST /api/v1/forget: an item, a dataset, or everything the caller owns.

With `memory_only`, what was derived from an item or a dataset: the originals stay, and can be made searchable
again.

Answers when a read-back found nothing, or `running` with the job ids when the wait is over first.
Source: contract-graph, "forget"; recorded cases forget_*.
"""

from typing import NotRequired

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.ids import DatasetId, DocumentId
from dormouse.model.job import Stage
from dormouse.model.receipt import ForgetReceipt
from dormouse.model.scope import Permission
from dormouse_gateway.contracts.graph.rest.bodies import ForgetBody, parsed
from dormouse_gateway.contracts.graph.rest.call import Call, answer
from dormouse_gateway.contracts.graph.rest.datasets import DATASET
from dormouse_gateway.contracts.graph.rest.receipts import JobView, job_view
from dormouse_gateway.web.limits import json_object
from dormouse_gateway.web.operation import Answer, Operation, path_parameter
from dormouse_gateway.web.problems import Problem, ProblemError

_AMBIGUOUS = "Invalid request parameters. Specify dataset or dataset_id, data_id+dataset, or everything=True."


class ForgottenView(TypedDict):
    """`status` is `success`, `running` with the ids of jobs that go on, or `errored` with those that failed."""

    status: str
    dataset_id: NotRequired[str]
    data_id: NotRequired[str]
    data_records_reset: NotRequired[int]
    datasets_removed: NotRequired[int]
    job_ids: NotRequired[list[str]]
    jobs: NotRequired[list[JobView]]


_UNFINISHED = {
    202: Answer("Accepted; it is still being erased.", ForgottenView),
    409: Answer("Not everything could be erased.", ForgottenView),
}
FORGET = Operation(
    "Forget an item, a dataset, or everything that the caller owns",
    "memory",
    {200: Answer("A read-back found nothing.", ForgottenView), **_UNFINISHED},
    body=ForgetBody,
    refusals=(403, 404, 422),
)
DELETE_DATA = Operation(
    "Forget one item",
    "datasets",
    {200: Answer("A read-back found nothing."), **_UNFINISHED},
    parameters=(DATASET, path_parameter("data", "The id of the item; one that is gone is no error.")),
    refusals=(403,),
)
DELETE_DATASET = Operation(
    "Forget one dataset",
    "datasets",
    {200: Answer("A read-back found nothing."), **_UNFINISHED},
    parameters=(DATASET,),
    refusals=(403,),
)


async def forget(call: Call) -> Response:
    body = parsed(ForgetBody, await json_object(call.request))
    _check(body)
    if body.everything:
        receipt = await call.engine.forget_everything(call.scope)
        removed = len({job.dataset for job in receipt.jobs if job.dataset})
        return await _settled(call, receipt, {"datasets_removed": removed})
    name_or_id = body.dataset_id or body.dataset
    assert name_or_id
    dataset = await call.engine.dataset_named(call.scope, name_or_id, permission=Permission.DELETE)
    if body.memory_only:
        return await _forget_memory(call, dataset.id, body.data_id)
    if body.data_id:
        receipt = await call.engine.forget_item(call.scope, dataset.id, DocumentId(body.data_id))
        return await _settled(call, receipt, {"data_id": body.data_id, "dataset_id": dataset.id})
    receipt = await call.engine.forget_dataset(call.scope, dataset.id)
    return await _settled(call, receipt, {"dataset_id": dataset.id})


async def _forget_memory(call: Call, dataset: DatasetId, data_id: str | None) -> Response:
    """Counted are the items that had a memory."""
    receipt = await call.engine.forget_memory(call.scope, dataset, DocumentId(data_id) if data_id else None)
    named = {"data_id": data_id} if data_id else {}
    return await _settled(
        call, receipt, {**named, "dataset_id": dataset, "data_records_reset": len(receipt.jobs)}
    )


async def delete_dataset(call: Call) -> Response:
    """DELETE /api/v1/datasets/{id}: `null` once it is gone, as recorded; 202 while it is still being erased."""
    wanted = DatasetId(call.request.path_params["dataset"])
    dataset = await call.engine.dataset_named(call.scope, wanted, permission=Permission.DELETE)
    receipt = await call.engine.forget_dataset(call.scope, dataset.id)
    settled = await _settled(call, receipt, {"dataset_id": dataset.id})
    return answer(None) if settled.status_code == 200 else settled


async def delete_data(call: Call) -> Response:
    """DELETE /api/v1/datasets/{id}/data/{data_id}: as above for one item; an unknown one is gone already."""
    wanted = DatasetId(call.request.path_params["dataset"])
    dataset = await call.engine.dataset_named(call.scope, wanted, permission=Permission.DELETE)
    item = DocumentId(call.request.path_params["data"])
    receipt = await call.engine.forget_item(call.scope, dataset.id, item)
    settled = await _settled(call, receipt, {"data_id": item, "dataset_id": dataset.id})
    return answer(None) if settled.status_code == 200 else settled


def _check(body: ForgetBody) -> None:
    """Exactly one target; recorded with status 422."""
    named = bool(body.dataset) + bool(body.dataset_id)
    is_whole = body.everything and not named and not body.data_id and not body.memory_only
    if not (is_whole or (named == 1 and not body.everything)):
        raise ProblemError(Problem(code="invalid_input", detail=_AMBIGUOUS, status=422))


async def _settled(call: Call, receipt: ForgetReceipt, said: dict[str, object]) -> Response:
    jobs = await call.waited([job.id for job in receipt.jobs], "final")
    failed = [job for job in jobs if job.stage is Stage.FAILED]
    if failed:
        return answer({**said, "status": "errored", "jobs": [job_view(job) for job in failed]}, status=409)
    if all(job.stage.is_final for job in jobs):
        return answer({**said, "status": "success"})
    return answer({**said, "status": "running", "job_ids": [job.id for job in jobs]}, status=202)
