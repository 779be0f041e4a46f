"""What the contract's search types mean here: which retrieval each rests on, and what it needs beyond it.

Source: graph contract, "recall"; the reference's search types and its routing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dormouse.model.recall import RecallMode
from dormouse_gateway.contracts.graph import texts
from dormouse_gateway.mcp.tool import ToolRefusal

NO_MODEL = "No language model is configured, so these are the memories that a worded answer would rest on."
NO_SUCH_INDEX = "Nothing of this kind is kept apart here, so all memories were searched."

_CYPHER_OFF = "Error: Recall failed: CYPHER is switched off on this server."
_NO_CODE = "Error: Recall failed: code graphs are not kept on this server; search without CODE."

_QUOTED = re.compile(r'\s*"[^"]+"\s*')


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """`note` tells the caller what was done instead of what was asked for; empty when nothing differs."""

    mode: RecallMode
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Kind:
    mode: RecallMode
    needs_model: bool = False
    note: str = ""


_ANSWERING = _Kind(RecallMode.AUTO, needs_model=True)
_UNSORTED = _Kind(RecallMode.AUTO, note=NO_SUCH_INDEX)

KINDS: Mapping[str, _Kind] = MappingProxyType(
    {
        "AGENTIC_COMPLETION": _ANSWERING,
        "BROAD": _ANSWERING,
        "CHUNKS": _Kind(RecallMode.CHUNKS),
        "CHUNKS_LEXICAL": _Kind(RecallMode.LEXICAL),
        "CODING_RULES": _UNSORTED,
        "FEELING_LUCKY": _ANSWERING,
        "GRAPH_COMPLETION": _ANSWERING,
        "GRAPH_COMPLETION_CONTEXT_EXTENSION": _ANSWERING,
        "GRAPH_COMPLETION_COT": _ANSWERING,
        "GRAPH_COMPLETION_DECOMPOSITION": _ANSWERING,
        "GRAPH_REPORT": _UNSORTED,
        "GRAPH_SUMMARY_COMPLETION": _ANSWERING,
        "HYBRID_COMPLETION": _ANSWERING,
        "NATURAL_LANGUAGE": _ANSWERING,
        "RAG_COMPLETION": _ANSWERING,
        "SKILLS": _UNSORTED,
        "SUMMARIES": _UNSORTED,
        "TEMPORAL": _ANSWERING,
        "TRIPLET_COMPLETION": _ANSWERING,
    }
)
_REFUSED = MappingProxyType({"CYPHER": _CYPHER_OFF, "CODE": _NO_CODE})


def plan_search(search_type: str | None, query: str, *, has_model: bool) -> SearchPlan:
    """Routes by the query when no type is named. Raises ToolRefusal for a type that is unknown or off."""
    if search_type is None:
        return _routed(query, has_model=has_model)
    name = search_type.upper()
    if name in _REFUSED:
        raise ToolRefusal(_REFUSED[name])
    kind = KINDS.get(name)
    if kind is None:
        raise ToolRefusal(texts.unknown_search_type(name[:64], sorted(KINDS)))
    if not kind.needs_model:
        return SearchPlan(kind.mode, kind.note)
    return SearchPlan(RecallMode.ANSWER) if has_model else SearchPlan(kind.mode, NO_MODEL)


def _routed(query: str, *, has_model: bool) -> SearchPlan:
    """Words in quotation marks are looked for as they stand; anything else by meaning and by words."""
    if _QUOTED.fullmatch(query):
        return SearchPlan(RecallMode.LEXICAL)
    return SearchPlan(RecallMode.ANSWER if has_model else RecallMode.AUTO)
