"""Where a recall looks."""

import pytest

from dormouse_gateway.contracts.graph.recall_scopes import listed, read_scopes
from dormouse_gateway.mcp.tool import ToolRefusal


@pytest.mark.parametrize(
    ("words", "lanes"),
    [
        (None, None),
        ("", None),
        ("auto", None),
        ("session_first", None),
        ("graph", {"graph"}),
        ("Graph_Context , ", {"graph"}),
        ("session", {"session"}),
        ("graph,session", {"graph", "session"}),
        ("all", {"graph", "session"}),
        ("code,tools,trace", set()),
    ],
)
def test_scope_words_become_lanes(words: str | None, lanes: set[str] | None) -> None:
    assert read_scopes(words) == lanes


def test_unknown_words_are_named_with_the_valid_ones() -> None:
    with pytest.raises(ToolRefusal) as refusal:
        read_scopes("graph,nope")

    assert refusal.value.text == (
        "Error: Recall failed: Unknown recall scope(s): ['nope']. Valid values: ['all', 'auto', 'code', "
        "'graph', 'graph_context', 'session', 'session_context', 'session_first', 'tools', 'trace']"
    )


def test_blank_items_of_a_list_are_dropped() -> None:
    assert listed(" a, ,b,,") == ["a", "b"]
