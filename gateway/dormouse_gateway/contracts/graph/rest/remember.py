"""POST /api/v1/remember: files and texts into a dataset, or texts into a session.

Everything is durable when it answers. One item that is refused refuses the call; of several, each has its
own line, and the items that were accepted stay.
Source: contract-graph, "REST"; recorded cases remember_*.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NotRequired

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.errors import InvalidInputError, UnknownOntologyError
from dormouse.model.document import Content
from dormouse.model.job import Job, Stage
from dormouse.model.receipt import IdempotencyKey, Receipt
from dormouse.model.scope import Permission
from dormouse_gateway.contracts.graph.rest.bodies import RememberBody
from dormouse_gateway.contracts.graph.rest.call import Call, answer
from dormouse_gateway.contracts.graph.rest.receipts import FailureView, failure_view, status_of
from dormouse_gateway.contracts.graph.rest.submission import (
    ITEM_PARTS,
    hashed_parts,
    submitted,
    target_of,
)
from dormouse_gateway.web.idempotency import IDEMPOTENCY_KEY, idempotency_of
from dormouse_gateway.web.operation import Answer, Form, Operation
from dormouse_gateway.web.problems import Problem, ProblemError

ROUTE = "POST /api/v1/remember"
_GROUNDED_SESSION = (
    "ontology_key is only supported for permanent writes — remove session_id to ground extraction "
    "with an ontology."
)


class RefusalView(TypedDict):
    code: str
    message: str


class ItemView(TypedDict):
    """`error` is there when the item was refused (`id` may then be null) or its job failed."""

    id: str | None
    name: NotRequired[str]
    job_id: NotRequired[str]
    stage: NotRequired[str]
    is_duplicate: NotRequired[bool]
    error: NotRequired[FailureView | RefusalView | None]


class RememberedView(TypedDict):
    """`status` is `completed`, `running`, `errored` or `session_stored`."""

    status: str
    dataset_name: str | None
    dataset_id: str | None
    pipeline_run_id: str | None
    items_processed: int
    elapsed_seconds: float | None
    items: list[ItemView]
    session_ids: NotRequired[list[str]]


REMEMBER = Operation(
    "Remember files and texts, or texts of a session",
    "memory",
    {
        200: Answer("Everything is durable, and searchable unless `running`.", RememberedView),
        409: Answer("An item was refused or failed; the others stay.", RememberedView),
    },
    parameters=(IDEMPOTENCY_KEY,),
    body=Form(RememberBody, ITEM_PARTS),
    refusals=(403, 404, 422),
)


@dataclass(frozen=True, slots=True)
class Item:
    """`receipt` and `job` are None when the item was refused, and `problem` says why."""

    name: str
    receipt: Receipt | None = None
    job: Job | None = None
    problem: InvalidInputError | None = None


async def remember(call: Call) -> Response:
    started = time.monotonic()
    body, contents = await submitted(call.request, RememberBody)
    target_of(body)
    if not body.self_improvement:
        contents = [replace(each, options={**each.options, "self_improvement": "false"}) for each in contents]
    if body.session_id and body.ontology_key:
        raise InvalidInputError(_GROUNDED_SESSION, field="ontology_key")
    try:
        await call.engine.ontologies.check(call.scope, contents[0].options)
    except UnknownOntologyError as exc:
        raise ProblemError(Problem(exc.code, f"Invalid request data for remember operation: {exc}")) from exc
    if body.session_id:
        return await _into_session(call, body, contents)
    items = await _accept(call, body, contents)
    if not body.run_in_background:
        items = await _waited(call, items)
    return _result(items, time.monotonic() - started)


async def _into_session(call: Call, body: RememberBody, contents: Sequence[Content]) -> Response:
    assert body.session_id
    texts = [_as_text(content) for content in contents]  # all of them before the first is stored
    dataset = await _target(call, body)
    session = body.session_id
    keys = _keys(call, body, contents)
    entries = [
        await call.engine.remember_in_session(call.scope, session, text, dataset=dataset, idempotency=key)
        for text, key in zip(texts, keys, strict=True)
    ]
    bound = next((entry.dataset for entry in entries if entry.dataset), None)
    view: RememberedView = {
        "status": "session_stored",
        "dataset_name": body.dataset_name,
        "dataset_id": bound or body.dataset_id,
        "pipeline_run_id": None,
        "items_processed": len(entries),
        "elapsed_seconds": 0.0,
        "session_ids": [body.session_id],
        "items": [{"id": entry.id} for entry in entries],
    }
    return answer(view)


def _as_text(content: Content) -> str:
    try:
        return content.body.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise InvalidInputError("data: a session takes text only", field="data") from exc


async def _accept(call: Call, body: RememberBody, contents: Sequence[Content]) -> list[Item]:
    dataset = await _target(call, body)
    keys = _keys(call, body, contents)
    items = []
    for content, key in zip(contents, keys, strict=True):
        try:
            receipt = await call.engine.remember(call.scope, dataset, content, idempotency=key)
            items.append(Item(content.filename, receipt, receipt.job))
        except InvalidInputError as exc:
            if len(contents) == 1:
                raise
            items.append(Item(content.filename, problem=exc))
    return items


async def _target(call: Call, body: RememberBody) -> str:
    """A name may be new; an id must be of something that is there, or it would become a name."""
    if body.dataset_id is None:
        assert body.dataset_name
        return body.dataset_name
    return (await call.engine.dataset_named(call.scope, body.dataset_id, permission=Permission.WRITE)).id


def _keys(call: Call, body: RememberBody, contents: Sequence[Content]) -> list[IdempotencyKey | None]:
    """One key per item, each bound to the whole body: a repeated call finds every item's own job."""
    whole = idempotency_of(call.request, ROUTE, hashed_parts(body, contents))
    return [whole and replace(whole, route=f"{ROUTE} {index}") for index in range(len(contents))]


async def _waited(call: Call, items: Sequence[Item]) -> list[Item]:
    jobs = await call.waited([item.job.id for item in items if item.job], "searchable")
    by_id = {job.id: job for job in jobs}
    return [replace(item, job=by_id[item.job.id]) if item.job else item for item in items]


def _result(items: Sequence[Item], elapsed_s: float) -> Response:
    jobs = [item.job for item in items if item.job]
    if not jobs:
        raise next(item.problem for item in items if item.problem)
    status = "errored" if any(item.problem for item in items) else status_of(jobs)
    dataset = next(item.receipt.dataset for item in items if item.receipt)
    view: RememberedView = {
        "status": status,
        "dataset_name": dataset.name if dataset else None,
        "dataset_id": dataset.id if dataset else None,
        "pipeline_run_id": jobs[0].id,
        "items_processed": sum(job.stage.is_searchable for job in jobs),
        "elapsed_seconds": round(elapsed_s, 3) if status != "running" else None,
        "items": [_item_view(item) for item in items],
    }
    return answer(view, status=409 if status == "errored" else 200)


def _item_view(item: Item) -> ItemView:
    if item.problem:
        error: RefusalView = {"code": item.problem.code, "message": str(item.problem)}
        return {"id": None, "name": item.name, "error": error}
    assert item.receipt
    assert item.job
    view: ItemView = {
        "id": item.receipt.document.id if item.receipt.document else item.job.document,
        "name": item.name,
        "job_id": item.job.id,
        "stage": item.job.stage.value,
        "is_duplicate": item.job.is_duplicate,
    }
    return view if item.job.stage is not Stage.FAILED else {**view, "error": failure_view(item.job.failure)}
