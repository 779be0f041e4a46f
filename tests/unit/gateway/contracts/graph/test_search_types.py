"""What a search type means, and how a query without one is routed."""

import pytest

from dormouse.model.recall import RecallMode
from dormouse_gateway.contracts.graph.search_types import KINDS, NO_MODEL, SearchPlan, plan_search
from dormouse_gateway.mcp.tool import ToolRefusal


@pytest.mark.parametrize(
    ("search_type", "mode"),
    [
        ("chunks", RecallMode.CHUNKS),
        ("CHUNKS_LEXICAL", RecallMode.LEXICAL),
        ("Graph_Completion", RecallMode.ANSWER),
    ],
)
def test_types_are_named_in_any_case(search_type: str, mode: RecallMode) -> None:
    assert plan_search(search_type, "who", has_model=True) == SearchPlan(mode)


def test_a_type_that_needs_a_model_falls_back_to_its_retrieval_and_says_so() -> None:
    assert plan_search("RAG_COMPLETION", "who", has_model=False) == SearchPlan(RecallMode.AUTO, NO_MODEL)


@pytest.mark.parametrize("search_type", sorted(KINDS))
def test_without_a_model_no_type_asks_for_an_answer(search_type: str) -> None:
    assert plan_search(search_type, "who", has_model=False).mode is not RecallMode.ANSWER


def test_words_in_quotation_marks_are_looked_for_as_they_stand() -> None:
    assert plan_search(None, ' "deploy key" ', has_model=True) == SearchPlan(RecallMode.LEXICAL)


@pytest.mark.parametrize("query", ['"a" and "b"', 'say "hello"', '"'])
def test_a_quotation_inside_a_question_is_no_exact_search(query: str) -> None:
    assert plan_search(None, query, has_model=False) == SearchPlan(RecallMode.AUTO)


def test_with_a_model_an_unrouted_question_gets_an_answer() -> None:
    assert plan_search(None, "who", has_model=True) == SearchPlan(RecallMode.ANSWER)


def test_an_unknown_type_is_refused_with_the_valid_ones() -> None:
    rule = r"'NOPE' is not a search type\. Valid values: AGENTIC_COMPLETION, BROAD"
    with pytest.raises(ToolRefusal, match=rule):
        plan_search("nope", "x", has_model=False)


@pytest.mark.parametrize("search_type", ["CYPHER", "code"])
def test_what_is_switched_off_says_so(search_type: str) -> None:
    with pytest.raises(ToolRefusal, match=r"switched off|not kept"):
        plan_search(search_type, "MATCH (n)", has_model=True)
