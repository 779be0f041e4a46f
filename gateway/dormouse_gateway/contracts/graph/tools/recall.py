"""recall: one ranked answer over everything the caller may read, or an honest reason why there is none.

Source: graph contract, "recall".
"""

from dataclasses import dataclass

from mcp.types import CallToolResult, ToolAnnotations

from dormouse.engine import Engine
from dormouse.errors import InvalidInputError, NotFoundError
from dormouse.ids import DatasetId
from dormouse.model.recall import MAX_TOP_K, RecallRequest, RecallResult
from dormouse.model.scope import Permission, Scope
from dormouse_gateway.contracts.graph import texts
from dormouse_gateway.contracts.graph.arguments import RecallArguments
from dormouse_gateway.contracts.graph.emptiness import failed_items, was_nothing_ever_built
from dormouse_gateway.contracts.graph.recall_scopes import listed, read_scopes
from dormouse_gateway.contracts.graph.search_types import plan_search
from dormouse_gateway.contracts.graph.tools.recall_reply import recall_reply
from dormouse_gateway.mcp.tool import Call, Tool, ToolRefusal
from dormouse_gateway.web.limits import MAX_NAMES

FAILURE = "Error: Recall failed: "

DESCRIPTION = """\
Search long-term memory by meaning and by words, and get the best matching memories with their sources.

Call it before answering anything that may rest on earlier conversations, decisions, preferences or stored \
documents. Ask in plain words; name people, things and dates as you know them. All datasets you may read are \
searched at once unless `datasets` names some. An answer that says "still indexing" means: ask again shortly."""


@dataclass(frozen=True, slots=True)
class _Recall:
    engine: Engine
    has_model: bool
    system_prompt: str

    async def __call__(self, call: Call, arguments: RecallArguments) -> CallToolResult:
        _check_top_k(arguments.top_k)
        if not arguments.query.strip():
            raise InvalidInputError("query must not be blank.", field="query")
        plan = plan_search(arguments.search_type, arguments.query, has_model=self.has_model)
        lanes = read_scopes(arguments.scope)
        scope = await self.engine.scope_of(call.principal)
        datasets = await self._datasets(scope, arguments.datasets)
        if lanes == frozenset():
            return recall_reply(RecallResult("none"), notes=[])
        request = RecallRequest(
            query=arguments.query,
            mode=plan.mode,
            datasets=datasets,
            session=arguments.session_id,
            sources=lanes,
            top_k=arguments.top_k,
            instruction=(arguments.system_prompt or "").strip() or self.system_prompt,
        )
        result = await self.engine.recall(scope, request)
        notes = [plan.note] if plan.note and result.hits else []
        if result.outcome == "none" and await was_nothing_ever_built(self.engine, scope, datasets):
            notes.append(texts.NOTHING_BUILT)
        if result.outcome == "build_failed":
            notes += await failed_items(self.engine, scope, datasets)
        return recall_reply(result, notes=notes)

    async def _datasets(self, scope: Scope, words: str | None) -> frozenset[DatasetId] | None:
        """None: everything readable. Raises ToolRefusal that names what was not found."""
        found, missing = [], []
        wanted = dict.fromkeys(listed(words))
        if len(wanted) > MAX_NAMES:
            raise ToolRefusal(f"{FAILURE}datasets must hold at most {MAX_NAMES} names or ids.")
        for name in wanted:
            try:
                found.append((await self.engine.dataset_named(scope, name, permission=Permission.READ)).id)
            except NotFoundError:
                missing.append(name[:200])
        if missing:
            raise ToolRefusal(texts.unknown_datasets(missing))
        return frozenset(found) or None


def recall_tool(engine: Engine, *, has_model: bool, system_prompt: str) -> Tool:
    """`has_model`: whether a language model words answers; `system_prompt` for calls that give none."""
    return Tool(
        name="recall",
        title="Recall",
        description=DESCRIPTION,
        arguments=RecallArguments,
        annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
        failure=FAILURE,
        run=_Recall(engine, has_model, system_prompt),
    )


def _check_top_k(top_k: int) -> None:
    if top_k < 1:
        raise ToolRefusal(texts.TOP_K_TOO_LOW)
    if top_k > MAX_TOP_K:
        raise ToolRefusal(texts.TOP_K_TOO_HIGH)
