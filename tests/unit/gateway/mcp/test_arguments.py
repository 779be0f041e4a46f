"""What models send, and what is made of it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dormouse.errors import InvalidInputError
from dormouse_gateway.contracts.graph.arguments import (
    CallToolArguments,
    CognifyStatusArguments,
    ForgetArguments,
    RecallArguments,
    RememberArguments,
    SearchToolsArguments,
)
from dormouse_gateway.mcp.arguments import Arguments, read_arguments, whole

ALL = [
    RememberArguments,
    RecallArguments,
    ForgetArguments,
    CognifyStatusArguments,
    SearchToolsArguments,
    CallToolArguments,
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("absent", [None, "", "null", " null "])
def test_ids_may_be_absent_in_every_way_that_models_write_it(absent: str | None) -> None:
    assert read_arguments(RecallArguments, {"query": "x", "session_id": absent}).session_id is None


def test_content_stays_as_it_came() -> None:
    assert read_arguments(RememberArguments, {"data": " null "}).data == " null "


def test_numbers_in_strings_are_numbers() -> None:
    assert read_arguments(RecallArguments, {"query": "x", "top_k": "5"}).top_k == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"query": "x", "top_k": "abc"}, "top_k must be an integer."),
        ({"query": "x", "top_k": True}, "top_k must be an integer."),
        ({"query": "x", "top_k": 1.5}, "top_k must be an integer."),
        ({"query": 5}, "query must be a string."),
        ({"query": None}, "query is required."),
        ({}, "query is required."),
        ({"qery": "x"}, "unknown argument 'qery'."),
        ({"query": "x", "foo": None}, "unknown argument 'foo'."),
    ],
)
def test_a_refusal_names_the_parameter_and_its_rule(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        read_arguments(RecallArguments, arguments)

    assert str(refusal.value) == message


def test_the_key_that_one_client_always_adds_is_ignored() -> None:
    assert read_arguments(RecallArguments, {"query": "x", "task_progress": "- [ ] a"}).query == "x"


def test_an_object_in_a_string_that_has_a_key_twice_is_refused_by_it() -> None:
    with pytest.raises(InvalidInputError) as refusal:
        read_arguments(CallToolArguments, {"name": "recall", "arguments": '{"query": "x", "query": "y"}'})

    assert str(refusal.value) == "arguments must have the key 'query' once only."


def test_objects_and_lists_may_come_as_json_strings() -> None:
    call = read_arguments(CallToolArguments, {"name": "recall", "arguments": '{"query": "x"}'})
    status = read_arguments(CognifyStatusArguments, {"pipelines": '["a", "b"]'})

    assert call.arguments == {"query": "x"}
    assert status.pipelines == ["a", "b"]


def test_a_bare_string_stands_for_a_list_of_one() -> None:
    assert read_arguments(RememberArguments, {"data": "x", "ontology_key": "k"}).ontology_key == ["k"]


@pytest.mark.parametrize("absent", [{}, {"arguments": None}, {"arguments": ""}, {"arguments": "null"}])
def test_a_target_without_arguments_gets_none(absent: dict[str, Any]) -> None:
    assert read_arguments(CallToolArguments, {"name": "x", **absent}).arguments == {}


def test_lone_surrogates_are_replaced_and_pairs_are_joined() -> None:
    assert whole("a\ud800b") == "a\ufffdb"
    assert whole("\ud83d\ude00") == "😀"
    assert whole("\ufeff日本") == "\ufeff日本"


@pytest.mark.parametrize("model", ALL)
@settings(max_examples=25)
@given(
    arguments=st.dictionaries(st.text(max_size=12) | st.sampled_from(["query", "data", "name", "top_k"]), JSON)
)
def test_any_arguments_are_read_or_refused_by_name(model: type[Arguments], arguments: dict[str, Any]) -> None:
    refusal = _refusal_of(model, arguments)

    if refusal is not None:
        assert refusal.field is not None
        assert "\n" not in str(refusal).replace(refusal.field, "")
        str(refusal).encode()


def _refusal_of(model: type[Arguments], arguments: dict[str, Any]) -> InvalidInputError | None:
    try:
        read_arguments(model, arguments)
    except InvalidInputError as refusal:
        return refusal
    return None
