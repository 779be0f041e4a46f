"""/api/v1/sessions: one's own session memory, listed, read and ended.

Tokens and costs are null: nothing here counts them.
Source: contract-graph, "REST"; recorded cases sessions, session_*.
"""

from typing import Any, Literal

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.ids import PrincipalId, SessionEntryId
from dormouse.model.session import EntryKind, SessionEntry, SessionSummary
from dormouse_gateway.contracts.graph.rest.call import Call, Served, answer
from dormouse_gateway.web.instants import iso
from dormouse_gateway.web.operation import Answer, Operation, path_parameter
from dormouse_gateway.web.pagination import (
    CURSOR,
    NEXT_CURSOR,
    NEXT_HEADER,
    cursor_of,
    limit_of,
    limit_parameter,
    position_of,
)

MOST = 200
SESSION = path_parameter("session", "The name that the entries were remembered under.")


class SessionView(TypedDict):
    """`status` is `running` until the session expires, seven days after its last use."""

    session_id: str
    user_id: str
    dataset_id: str | None
    agent_id: None
    status: Literal["running"]
    effective_status: Literal["running"]
    started_at: str
    last_activity_at: str
    ended_at: None
    tokens_in: None
    tokens_out: None
    cost_usd: None
    embedding_tokens: None
    embedding_cost_usd: None
    error_count: None
    last_model: None
    msg_count: int
    tool_calls: int


class SessionsView(TypedDict):
    """`total` counts all of the caller's; `offset` is null: the next page begins at the cursor."""

    sessions: list[SessionView]
    total: int
    limit: int
    offset: None
    has_more: bool


class ExchangeView(TypedDict):
    """A note has an answer only."""

    time: str
    question: str
    context: str
    answer: str
    qa_id: str
    feedback_text: str | None
    feedback_score: int | None
    used_graph_element_ids: None
    memify_metadata: None
    used_session_context_ids: None


class TraceView(TypedDict):
    trace_id: str
    origin_function: str
    status: str
    memory_query: str
    memory_context: str
    method_params: dict[str, Any]
    method_return_value: Any
    error_message: str
    session_feedback: None


class SessionWithEntries(SessionView):
    """The newest entries, oldest of them first; `label` is null."""

    label: None
    qas: list[ExchangeView]
    traces: list[TraceView]


class EndedView(TypedDict):
    session_id: str
    entries_removed: int
    status: Literal["success"]


LIST_SESSIONS = Operation(
    "One's own sessions, last used first",
    "sessions",
    {200: Answer("The sessions.", SessionsView, headers=(NEXT_CURSOR,))},
    parameters=(limit_parameter(default=50, most=MOST), CURSOR),
)
READ_SESSION = Operation(
    "One session with its entries",
    "sessions",
    {200: Answer("The session and a page of its entries.", SessionWithEntries, headers=(NEXT_CURSOR,))},
    parameters=(SESSION, limit_parameter(default=100, most=MOST), CURSOR),
)
DELETE_SESSION = Operation(
    "Erase one session",
    "sessions",
    {200: Answer("Its entries are gone; a session that is gone already had none.", EndedView)},
    parameters=(SESSION,),
)


async def list_sessions(call: Call) -> Response:
    query = call.request.query_params
    limit, after = limit_of(query, default=50, most=MOST), position_of(query, (int, str))
    start = (int(after[0]), str(after[1])) if after else None
    page = await call.engine.sessions(call.scope, after=start, limit=limit + 1)
    shown, has_more = page.sessions[:limit], len(page.sessions) > limit
    view: SessionsView = {
        "sessions": [_session_view(each, call.scope.principal) for each in shown],
        "total": page.total,
        "limit": limit,
        "offset": None,
        "has_more": has_more,
    }
    more = {NEXT_HEADER: cursor_of([shown[-1].used_ms, shown[-1].name])} if has_more else {}
    return answer(view, headers=more)


async def read_session(call: Call) -> Response:
    query = call.request.query_params
    limit, before = limit_of(query, default=100, most=MOST), position_of(query, (int, str))
    start = (int(before[0]), SessionEntryId(str(before[1]))) if before else None
    name = call.request.path_params["session"]
    summary, entries = await call.engine.session(call.scope, name, before=start, limit=limit + 1)
    shown = list(entries[:limit])
    more = {NEXT_HEADER: cursor_of([shown[-1].created_ms, shown[-1].id])} if len(entries) > limit else {}
    in_order = shown[::-1]
    view: SessionWithEntries = {
        **_session_view(summary, call.scope.principal),
        "label": None,
        "qas": [exchange_view(each) for each in in_order if each.kind is not EntryKind.TRACE],
        "traces": [_trace_view(each) for each in in_order if each.kind is EntryKind.TRACE],
    }
    return answer(view, headers=more)


async def delete_session(call: Call) -> Response:
    name = call.request.path_params["session"]
    removed = await call.engine.forget_session(call.scope, name)
    ended: EndedView = {"session_id": name, "entries_removed": removed, "status": "success"}
    return answer(ended)


def exchange_view(entry: SessionEntry) -> ExchangeView:
    details = entry.details
    return {
        "time": iso(entry.created_ms),
        "question": details.get("question", ""),
        "context": details.get("context", ""),
        "answer": details.get("answer", entry.text),
        "qa_id": entry.id,
        "feedback_text": details.get("feedback_text"),
        "feedback_score": details.get("feedback_score"),
        "used_graph_element_ids": None,
        "memify_metadata": None,
        "used_session_context_ids": None,
    }


def _trace_view(entry: SessionEntry) -> TraceView:
    details = entry.details
    return {
        "trace_id": entry.id,
        "origin_function": details.get("origin_function", ""),
        "status": details.get("status", ""),
        "memory_query": details.get("memory_query", ""),
        "memory_context": details.get("memory_context", ""),
        "method_params": details.get("method_params", {}),
        "method_return_value": details.get("method_return_value"),
        "error_message": details.get("error_message", ""),
        "session_feedback": None,
    }


def _session_view(summary: SessionSummary, owner: PrincipalId) -> SessionView:
    return {
        "session_id": summary.name,
        "user_id": owner,
        "dataset_id": summary.dataset,
        "agent_id": None,
        "status": "running",
        "effective_status": "running",
        "started_at": iso(summary.started_ms),
        "last_activity_at": iso(summary.used_ms),
        "ended_at": None,
        "tokens_in": None,
        "tokens_out": None,
        "cost_usd": None,
        "embedding_tokens": None,
        "embedding_cost_usd": None,
        "error_count": None,
        "last_model": None,
        "msg_count": summary.exchanges,
        "tool_calls": summary.traces,
    }


ROUTES = (
    Served("GET", "/sessions", list_sessions, LIST_SESSIONS),
    Served("GET", "/sessions/{session}", read_session, READ_SESSION),
    Served("DELETE", "/sessions/{session}", delete_session, DELETE_SESSION),
)
