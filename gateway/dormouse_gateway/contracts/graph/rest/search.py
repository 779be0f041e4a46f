"""POST /api/v1/search: what a recall finds, grouped by dataset.

One ranking over all datasets, cut once, then put in groups in the order of their best hit.
Source: contract-graph, "REST"; recorded cases search_*.
"""

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.model.recall import Hit, RecallMode, RecallRequest, RecallResult
from dormouse_gateway.contracts.graph.rest.bodies import SearchBody, parsed
from dormouse_gateway.contracts.graph.rest.call import Call, Handler, answer
from dormouse_gateway.contracts.graph.rest.recall import DEGRADED, datasets_of, degraded_header
from dormouse_gateway.contracts.graph.search_types import plan_search
from dormouse_gateway.mcp.tool import ToolRefusal
from dormouse_gateway.web.limits import json_object
from dormouse_gateway.web.operation import Answer, Operation
from dormouse_gateway.web.problems import Problem, ProblemError

_TOOL_PREFIX = "Error: Recall failed: "


class ChunkView(TypedDict):
    id: str
    type: str
    text: str
    document_id: str
    document_name: str
    chunk_index: int
    score: float


class FoundView(TypedDict):
    """`dataset_id` is null for an answer over all of them, which is a text and comes first."""

    dataset_id: str | None
    dataset_name: str | None
    dataset_tenant_id: None
    search_result: list[ChunkView | str]


SEARCH = Operation(
    "Find what is remembered, by dataset",
    "memory",
    {200: Answer("The datasets with something in them that was found.", list[FoundView], headers=(DEGRADED,))},
    body=SearchBody,
    refusals=(403, 404),
)


def search_with(*, has_model: bool) -> Handler:
    async def search(call: Call) -> Response:
        body = parsed(SearchBody, await json_object(call.request))
        try:
            plan = plan_search(body.search_type, body.query, has_model=has_model)
        except ToolRefusal as refusal:
            is_off = (body.search_type or "").upper() == "CYPHER"
            code = "forbidden" if is_off else "invalid_input"
            raise ProblemError(Problem(code, refusal.text.removeprefix(_TOOL_PREFIX))) from None
        datasets = await datasets_of(call, body.dataset_ids or body.datasets)
        result = await call.engine.recall(
            call.scope,
            RecallRequest(
                query=body.query,
                mode=plan.mode,
                datasets=datasets,
                session=body.session_id,
                sources=frozenset({"graph"}),
                top_k=body.top_k,
                instruction=body.system_prompt,
            ),
        )
        return answer(groups_of(result, plan.mode), headers=degraded_header(result))

    return search


def groups_of(result: RecallResult, mode: RecallMode) -> list[FoundView]:
    """An answer first, then each dataset's hits, best first."""
    groups: dict[str, FoundView] = {}
    for hit in result.hits:
        dataset = hit.passage.dataset
        group = groups.setdefault(dataset, _group(dataset, hit.dataset_name))
        group["search_result"].append(_chunk(hit))
    if mode is not RecallMode.ANSWER or not result.answer:
        return list(groups.values())
    whole = _group(None, None)
    whole["search_result"].append(result.answer)
    return [whole, *groups.values()]


def _group(dataset: str | None, name: str | None) -> FoundView:
    return {"dataset_id": dataset, "dataset_name": name, "dataset_tenant_id": None, "search_result": []}


def _chunk(hit: Hit) -> ChunkView:
    passage = hit.passage
    return {
        "id": passage.id,
        "type": "DocumentChunk",
        "text": passage.text,
        "document_id": passage.document,
        "document_name": passage.document_name,
        "chunk_index": passage.order,
        "score": hit.score,
    }
