"""Where a recall looks: the contract's scope words as the two lanes of this memory, graph and sessions.

Source: graph contract, "recall".
"""

from types import MappingProxyType
from typing import Literal

from dormouse_gateway.contracts.graph import texts
from dormouse_gateway.mcp.tool import ToolRefusal

Lane = Literal["graph", "session"]

_BOTH: frozenset[Lane] = frozenset({"graph", "session"})
_GRAPH: frozenset[Lane] = frozenset({"graph"})
_SESSION: frozenset[Lane] = frozenset({"session"})
_NOWHERE: frozenset[Lane] = frozenset()

LANES = MappingProxyType(
    {
        "all": _BOTH,
        "auto": _BOTH,
        "code": _NOWHERE,  # neither code graphs nor tool traces are kept
        "graph": _GRAPH,
        "graph_context": _GRAPH,
        "session": _SESSION,
        "session_context": _SESSION,
        "session_first": _BOTH,
        "tools": _NOWHERE,
        "trace": _NOWHERE,
    }
)
_UP_TO_THE_ENGINE = frozenset({"auto", "session_first"})


def read_scopes(words: str | None) -> frozenset[Lane] | None:
    """The lanes to search; None when the engine decides (a session hit spares the graph).

    Raises ToolRefusal that names what is unknown.
    """
    named = listed(words)
    if unknown := [name for name in named if name.lower() not in LANES]:
        raise ToolRefusal(texts.unknown_scopes(unknown, sorted(LANES)))
    chosen = {name.lower() for name in named}
    if chosen <= _UP_TO_THE_ENGINE:
        return None
    return _NOWHERE.union(*(LANES[name] for name in chosen))


def listed(words: str | None) -> list[str]:
    """Comma-separated words, trimmed; blank ones dropped."""
    return [word.strip() for word in (words or "").split(",") if word.strip()]
