"""POST /api/v1/remember/entry: a question with its answer, a tool's trace, or feedback, into a session.

Source: contract-graph, "REST"; recorded cases entry_*.
"""

from dataclasses import replace
from typing import Literal

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.errors import InvalidInputError
from dormouse.ids import SessionEntryId
from dormouse.model.receipt import IdempotencyKey
from dormouse.model.scope import Permission
from dormouse.model.session import EntryDraft, EntryKind, SessionEntry
from dormouse_gateway.contracts.graph.rest.bodies import parsed
from dormouse_gateway.contracts.graph.rest.bodies_session import (
    EntryBody,
    ExchangeEntry,
    FeedbackEntry,
    TraceEntry,
)
from dormouse_gateway.contracts.graph.rest.call import Call, Served, answer
from dormouse_gateway.web.idempotency import IDEMPOTENCY_KEY, idempotency_of
from dormouse_gateway.web.limits import json_object
from dormouse_gateway.web.operation import Answer, Operation

ROUTE = "POST /api/v1/remember/entry"


class StoredEntryView(TypedDict):
    """`dataset_id` is the dataset that the entry is bound to, null when none was named."""

    status: Literal["session_stored"]
    dataset_name: str | None
    dataset_id: str | None
    pipeline_run_id: None
    items_processed: int
    elapsed_seconds: float
    session_ids: list[str]
    entry_type: str
    entry_id: str


REMEMBER_ENTRY = Operation(
    "Remember an exchange, a trace or feedback in a session",
    "sessions",
    {200: Answer("It is durable, and searchable unless it is a trace.", StoredEntryView)},
    parameters=(IDEMPOTENCY_KEY,),
    body=EntryBody,
    refusals=(403, 404, 422),
)


async def remember_entry(call: Call) -> Response:
    body = parsed(EntryBody, await json_object(call.request))
    if body.dataset_name and body.dataset_id:
        raise InvalidInputError("Either datasetId or datasetName must be provided.", field="datasetName")
    key = idempotency_of(call.request, ROUTE, (body.model_dump_json().encode(),))
    entry = await _stored(call, body, key)
    view: StoredEntryView = {
        "status": "session_stored",
        "dataset_name": body.dataset_name,
        "dataset_id": entry.dataset,
        "pipeline_run_id": None,
        "items_processed": 0,
        "elapsed_seconds": 0.0,
        "session_ids": [body.session_id],
        "entry_type": body.entry.type,
        "entry_id": entry.id,
    }
    return answer(view)


async def _stored(call: Call, body: EntryBody, key: IdempotencyKey | None) -> SessionEntry:
    """Feedback belongs to the entry it is on, and repeating it changes nothing."""
    if isinstance(body.entry, FeedbackEntry):
        said = body.entry.model_dump(include={"feedback_text", "feedback_score"}, exclude_none=True)
        return await call.engine.describe_entry(
            call.scope, body.session_id, SessionEntryId(body.entry.qa_id), said
        )
    dataset = body.dataset_name
    if body.dataset_id:
        dataset = (await call.engine.dataset_named(call.scope, body.dataset_id, permission=Permission.WRITE)).id
    return await call.engine.remember_in_session(
        call.scope, body.session_id, draft_of(body.entry), dataset=dataset, idempotency=key
    )


def draft_of(entry: ExchangeEntry | TraceEntry) -> EntryDraft:
    """An exchange is found by all its parts."""
    details = entry.model_dump(exclude={"type"}, exclude_none=True)
    if isinstance(entry, TraceEntry):
        return EntryDraft("", EntryKind.TRACE, details)
    parts = (entry.question, entry.answer, entry.context)
    text = "\n".join(part for part in parts if part.strip())
    if not text:
        raise InvalidInputError("entry: an exchange needs a question or an answer", field="entry")
    return replace(EntryDraft(text, EntryKind.EXCHANGE), details=details)


ROUTES = (Served("POST", "/remember/entry", remember_entry, REMEMBER_ENTRY),)
