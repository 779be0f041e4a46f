"""POST /api/v1/recall: an array of entries, session first, as recorded.

Scores are higher for better, unlike the reference's distances. What did not answer is named in the header
`X-Dormouse-Degraded`.
Source: contract-graph, "recall"; recorded cases recall_*.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.ids import DatasetId
from dormouse.model.memory import MemoryVersion
from dormouse.model.recall import Hit, RecallMode, RecallRequest, RecallResult, SessionHit
from dormouse.model.scope import Permission
from dormouse_gateway.contracts.graph import texts
from dormouse_gateway.contracts.graph.emptiness import failed_items, was_nothing_ever_built
from dormouse_gateway.contracts.graph.recall_scopes import read_scopes
from dormouse_gateway.contracts.graph.rest.bodies import RecallBody, parsed
from dormouse_gateway.contracts.graph.rest.call import Call, Handler, answer
from dormouse_gateway.contracts.graph.rest.sessions import ExchangeView, exchange_view
from dormouse_gateway.contracts.graph.search_types import plan_search
from dormouse_gateway.mcp.tool import ToolRefusal
from dormouse_gateway.web.instants import iso_or_none
from dormouse_gateway.web.limits import json_object
from dormouse_gateway.web.operation import Answer, Operation, Parameter
from dormouse_gateway.web.problems import Problem, ProblemError

DEGRADED_HEADER = "X-Dormouse-Degraded"
_TOOL_PREFIX = "Error: Recall failed: "  # the tool's texts begin so; here the status says it


class SessionEntry(ExchangeView):
    """What the conversation said; what is not kept is null."""

    source: str


class GraphEntry(TypedDict):
    """A passage (`kind` is `chunk`, a higher score is better) or the answer that rests on some."""

    kind: str
    search_type: str
    text: str
    system_prompt: None
    score: float | None
    dataset_id: str | None
    dataset_name: str | None
    metadata: dict[str, object]
    raw: dict[str, object] | None
    structured: None
    source: str


class SystemEntry(TypedDict):
    """Why nothing was found: `memory_warming_up` or `build_failed`."""

    source: str
    status: str
    text: str
    datapoint_count: int
    threshold: int
    error_class: None
    error_message: str | None


Entry = SessionEntry | GraphEntry | SystemEntry
DEGRADED = Parameter(DEGRADED_HEADER, "Parts of the search that did not answer.", place="header")

RECALL = Operation(
    "Find what is remembered",
    "memory",
    {
        200: Answer(
            "What was found, session first, then best first.",
            list[Entry],
            headers=(DEGRADED,),
        )
    },
    body=RecallBody,
    refusals=(404,),
)


def recall_with(*, has_model: bool) -> Handler:
    async def recall(call: Call) -> Response:
        body = parsed(RecallBody, await json_object(call.request))
        search_type = body.search_type.upper() if body.search_type else "HYBRID_COMPLETION"
        try:
            plan = plan_search(body.search_type, body.query, has_model=has_model)
            sources = read_scopes(",".join(body.scope or ()))
        except ToolRefusal as refusal:
            raise ProblemError(Problem("invalid_input", refusal.text.removeprefix(_TOOL_PREFIX))) from None
        datasets = await datasets_of(call, body.dataset_ids or body.datasets)
        result = await call.engine.recall(
            call.scope,
            RecallRequest(
                query=body.query,
                mode=plan.mode,
                datasets=datasets,
                session=body.session_id,
                sources=sources,
                top_k=body.top_k,
                instruction=body.system_prompt,
            ),
        )
        entries = entries_of(result, search_type, plan.mode)
        if not entries:
            entries = await _nothing(call, datasets, result)
        elif result.outcome == "build_failed":
            entries = [_failed(result, await failed_items(call.engine, call.scope, datasets))]
        return answer(entries, headers=degraded_header(result))

    return recall


def entries_of(result: RecallResult, search_type: str, mode: RecallMode) -> list[Entry]:
    """Sessions, then the answer if one was asked for, then the passages it may rest on."""
    entries: list[Entry] = [_session_entry(hit) for hit in result.session_hits]
    if mode is RecallMode.ANSWER and result.answer:
        entries.append(_answer_entry(result.answer, result, search_type))
    entries += [_passage_entry(hit, search_type) for hit in result.hits]
    return entries or _explanation(result)


async def datasets_of(call: Call, wanted: list[str] | None) -> frozenset[DatasetId] | None:
    """None at all means everything readable."""
    if not wanted:
        return None
    found = [await call.engine.dataset_named(call.scope, name, permission=Permission.READ) for name in wanted]
    return frozenset(dataset.id for dataset in found)


def degraded_header(result: RecallResult) -> dict[str, str] | None:
    return {DEGRADED_HEADER: ",".join(result.degraded)} if result.degraded else None


async def _nothing(
    call: Call, datasets: frozenset[DatasetId] | None, result: RecallResult
) -> list[GraphEntry | SessionEntry | SystemEntry]:
    """Whether nothing was ever remembered where the caller looked, or was only ever staged there."""
    summaries = await call.engine.datasets(call.scope)
    here = [each for each in summaries if datasets is None or each.dataset.id in datasets]
    if not any(each.documents for each in here):
        if not await was_nothing_ever_built(call.engine, call.scope, datasets):
            return []
        return [_system("memory_warming_up", texts.NOTHING_BUILT, result)]
    staged = next((each for each in here if each.staged and each.staged == each.documents), None)
    if staged is not None and datasets is not None and await _is_new(call, staged.dataset.id):
        raise ProblemError(
            Problem("not_found", texts.only_staged(staged.dataset.name, staged.dataset.id, staged.staged))
        )
    return []


async def _is_new(call: Call, dataset: DatasetId) -> bool:
    """Where a memory was forgotten and its items stayed, nothing is found, as recorded."""
    return (await call.engine.standings(call.scope, [dataset]))[dataset].state == "new"


def _session_entry(hit: SessionHit) -> SessionEntry:
    return {**exchange_view(hit.entry), "source": "session"}


def _answer_entry(text: str, result: RecallResult, search_type: str) -> GraphEntry:
    return {
        "kind": "graph_completion",
        "search_type": search_type,
        "text": text,
        "system_prompt": None,
        "score": None,
        "dataset_id": None,
        "dataset_name": None,
        "metadata": {"model": result.answer_model, "citations": _citations(result)},
        "raw": {"value": text},
        "structured": None,
        "source": "graph",
    }


def _citations(result: RecallResult) -> list[dict[str, object]]:
    """The number in the answer's marks, and which of the entries behind it that is."""
    return [
        {
            "number": position + 1,
            "data_id": result.hits[position].passage.document,
            "chunk_id": result.hits[position].passage.id,
        }
        for position in result.answer_sources
    ]


def _passage_entry(hit: Hit, search_type: str) -> GraphEntry:
    passage = hit.passage
    return {
        "kind": "chunk",
        "search_type": search_type,
        "text": passage.text,
        "system_prompt": None,
        "score": hit.score,
        "dataset_id": passage.dataset,
        "dataset_name": hit.dataset_name,
        "metadata": {
            "data_id": passage.document,
            "chunk_id": passage.id,
            "chunk_index": passage.order,
            "document_name": passage.document_name or None,
            "extension": PurePosixPath(passage.document_name).suffix.removeprefix("."),
            "external_id": passage.external_id,
            "heading": passage.heading,
            "speaker": passage.speaker,
            "occurred_at": iso_or_none(passage.occurred_ms),
            "remembered_at": iso_or_none(hit.remembered_ms),
            "is_pending": hit.is_pending,
            "derived": [memory.content for memory in hit.through],
            "memories": [_memory(memory) for memory in hit.memories],
        },
        "raw": None,
        "structured": None,
        "source": "graph",
    }


def _memory(memory: MemoryVersion) -> dict[str, object]:
    """What was understood of the passage, and when it holds; null for no beginning or no end."""
    valid = memory.valid
    return {
        "type": memory.kind.value,
        "content": memory.content,
        "valid_from": iso_or_none(valid.start_ms if valid.has_start else None),
        "valid_until": iso_or_none(valid.end_ms if valid.has_end else None),
    }


def _explanation(result: RecallResult) -> list[Entry]:
    """Why nothing was found, unless there simply is nothing."""
    if result.outcome == "indexing":
        return [_system("memory_warming_up", texts.still_indexing(result.completed, result.total), result)]
    if result.outcome == "build_failed":
        return [_system("build_failed", texts.BUILD_FAILED, result)]
    return []


def _failed(result: RecallResult, items: Sequence[str]) -> SystemEntry:
    return {**_system("build_failed", texts.BUILD_FAILED, result), "error_message": "; ".join(items) or None}


def _system(status: str, text: str, result: RecallResult) -> SystemEntry:
    return {
        "source": "system",
        "status": status,
        "text": text,
        "datapoint_count": result.completed or 0,
        "threshold": result.total or 1,
        "error_class": None,
        "error_message": None,
    }
