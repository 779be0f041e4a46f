"""POST /api/v1/remember: files and texts into a dataset, or texts into a session.

Everything is durable when it answers. One item that is refused refuses the call; of several, each has its
own line, and the items that were accepted stay.
Source: contract-graph, "REST"; recorded cases remember_*.
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NotRequired

from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.errors import InvalidInputError, TooLargeError
from dormouse.model.document import CONTENT_LIMIT_BYTES, Content, ContentKind
from dormouse.model.job import Job, Stage
from dormouse.model.receipt import IdempotencyKey, Receipt
from dormouse.model.scope import Permission
from dormouse_gateway.contracts.graph.rest.bodies import RememberBody, parsed
from dormouse_gateway.contracts.graph.rest.call import Call, answer
from dormouse_gateway.contracts.graph.rest.receipts import FailureView, failure_view, status_of
from dormouse_gateway.web.idempotency import IDEMPOTENCY_KEY, idempotency_of
from dormouse_gateway.web.instants import instant_of
from dormouse_gateway.web.limits import form
from dormouse_gateway.web.operation import FILE, TEXT, Answer, Form, Operation

ROUTE = "POST /api/v1/remember"
MAX_FILENAME_CHARACTERS = 1024
_FILE_FIELD, _TEXT_FIELD = "data", "raw_data"
_UNSAFE = re.compile(r"[\x00-\x1f\x7f]|^/|^[A-Za-z]:|(^|/)\.\.(/|$)")


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
    body=Form(
        RememberBody,
        {
            _FILE_FIELD: {"type": "array", "items": FILE, "description": "Files, each of up to 10 MiB."},
            _TEXT_FIELD: {"type": "array", "items": TEXT, "description": "Texts, each of up to 10 MiB."},
        },
    ),
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
    fields = await form(call.request)
    try:
        body, contents = await _read(fields)
    finally:
        await fields.close()
    if body.session_id:
        return await _into_session(call, body, contents)
    items = await _accept(call, body, contents)
    if not body.run_in_background:
        items = await _waited(call, items)
    return _result(items, time.monotonic() - started)


def file_name(given: str) -> str:
    """The name as sent, folders included; never a way out of them.

    Raises `InvalidInputError` for absolute paths, `..`, control characters and names that are too long.
    """
    name = given.replace("\\", "/").removeprefix("./")
    if not name or len(name) > MAX_FILENAME_CHARACTERS or _UNSAFE.search(name):
        raise InvalidInputError(
            f"a file's name must be relative, without '..', and at most {MAX_FILENAME_CHARACTERS} characters",
            field="data",
        )
    return name


async def _read(fields: FormData) -> tuple[RememberBody, list[Content]]:
    body = parsed(RememberBody, _plain(fields))
    occurred_ms, offset = instant_of(body.occurred_at, "occurred_at") if body.occurred_at else (None, None)
    template = Content(
        body=b"",
        external_id=body.external_id,
        occurred_ms=occurred_ms,
        offset_minutes=offset,
        zone=body.zone,
        options=_options(body),
    )
    contents = [await _uploaded(file, body, template) for file in fields.getlist(_FILE_FIELD)]
    contents += [_typed(text, body, template) for text in fields.getlist(_TEXT_FIELD)]
    if not contents:
        raise InvalidInputError("Provide at least one file in 'data' or one entry in 'raw_data'.", field="data")
    if body.external_id and len(contents) > 1:
        raise InvalidInputError("external_id: one item at a time can have it", field="external_id")
    if bool(body.dataset_name) == bool(body.dataset_id):
        raise InvalidInputError("Either datasetId or datasetName must be provided.", field="datasetName")
    return body, contents


def _plain(fields: FormData) -> dict[str, object]:
    plain: dict[str, object] = {}
    for name, value in fields.multi_items():
        if name in {_FILE_FIELD, _TEXT_FIELD}:
            continue
        if name in plain or not isinstance(value, str):
            raise InvalidInputError(f"{name[:60]}: one text value is expected", field=name[:60])
        plain[name] = value
    return plain


def _options(body: RememberBody) -> dict[str, str]:
    options = {"custom_prompt": body.custom_prompt} if body.custom_prompt else {}
    return options if body.self_improvement else {**options, "self_improvement": "false"}


async def _uploaded(file: str | UploadFile, body: RememberBody, template: Content) -> Content:
    if isinstance(file, str):
        raise InvalidInputError("data: files are expected; send text as 'raw_data'", field="data")
    name = file_name(file.filename or "upload.txt")
    content = _sized(await file.read(CONTENT_LIMIT_BYTES + 1), "data")
    return replace(template, body=content, kind=ContentKind(body.kind or "file"), filename=name)


def _typed(text: str | UploadFile, body: RememberBody, template: Content) -> Content:
    """Text is text, also when it looks like a path or an address: nothing is fetched."""
    if not isinstance(text, str):
        raise InvalidInputError("raw_data: text is expected; send files as 'data'", field="raw_data")
    content = _sized(text.encode("utf-8", "surrogatepass"), "raw_data")
    return replace(template, body=content, kind=ContentKind(body.kind or "text"))


def _sized(content: bytes, field: str) -> bytes:
    if len(content) > CONTENT_LIMIT_BYTES:
        raise TooLargeError(f"{field}: one item may have {CONTENT_LIMIT_BYTES:,} bytes", field=field)
    return content


async def _into_session(call: Call, body: RememberBody, contents: Sequence[Content]) -> Response:
    assert body.session_id
    texts = [_as_text(content) for content in contents]  # all of them before the first is stored
    dataset = await _target(call, body)
    session = body.session_id
    entries = [
        await call.engine.remember_in_session(call.scope, session, text, dataset=dataset) for text in texts
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
    said = body.model_dump_json(exclude={"run_in_background"}).encode()
    names = [content.filename.encode("utf-8", "replace") for content in contents]
    whole = idempotency_of(call.request, ROUTE, (said, *names, *(content.body for content in contents)))
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
    return view if item.job.stage is not Stage.FAILED else {**view, "error": failure_view(item.job)}
