"""Whatever a model sends, it gets an answer that it can read, and nothing of the server's insides."""

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dormouse.model.document import CONTENT_LIMIT_BYTES
from tests.contract.mcp.talk import a_call, post, result_of
from tests.contract.program import Program

TOOLS = ["remember", "recall", "forget", "cognify_status", "search_tools", "call_tool"]
NAMES = [
    *("data", "filename", "content_base64", "dataset_name", "session_id", "ontology_key", "background"),
    *("query", "search_type", "datasets", "top_k", "scope", "dataset", "data_id", "dataset_id"),
    *("pipelines", "name", "arguments"),
]
TEXT = st.text(max_size=30) | st.sampled_from(
    ["../../etc/passwd", "\ud800", "\x00", "null", "' OR 1=1 --", "{}", "[]", "۵", "𝕏" * 20, "a,b,,", "%s{0}"]
)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
ID = "3f0c6a52-5f3e-4a55-9a2c-6a0f4b6f0c11"
INSIDES = re.compile(
    r"Traceback|File \"|\.py\b|sqlite|/home/|/root/|site-packages|pydantic|0x[0-9a-f]{6}", re.IGNORECASE
)


@pytest.mark.parametrize("tool", TOOLS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arguments=st.dictionaries(st.sampled_from(NAMES) | TEXT, VALUE, max_size=4))
def test_no_arguments_bring_out_a_trace_a_path_or_a_500(url: str, tool: str, arguments: dict[str, Any]) -> None:
    answer = post(url, a_call(tool, arguments))

    assert answer.status_code == 200
    result = result_of(answer)
    for block in result["content"]:
        if result["isError"]:
            assert block["text"].startswith(("Error", "❌", "Unknown tool"))
            assert "something went wrong inside" not in block["text"]
            assert not INSIDES.search(_without(block["text"], arguments))


def _without(text: str, arguments: object) -> str:
    """The text without what the caller said itself."""
    for name in json.loads(json.dumps(arguments)) if isinstance(arguments, dict) else ():
        text = text.replace(str(name), "")
    return text


def test_text_that_looks_like_a_path_is_text(url: str, program: Program) -> None:
    secret = program.folder / "secret.txt"
    secret.write_text("The vault code is 4711.")

    result_of(post(url, a_call("remember", {"data": str(secret), "dataset_name": "paths"})))
    found = result_of(post(url, a_call("recall", {"query": "vault code", "datasets": "paths"})))

    assert "4711" not in json.dumps(found)


def test_null_and_the_words_for_it_mean_absent(url: str) -> None:
    result = result_of(
        post(url, a_call("recall", {"query": "tea", "session_id": "null", "datasets": None, "scope": ""}))
    )

    assert result["isError"] is False


def test_content_over_the_limit_is_refused_with_what_to_do(url: str) -> None:
    above = a_call("remember", {"data": "x" * (CONTENT_LIMIT_BYTES + 1), "background": True})

    refused = result_of(post(url, above))

    assert refused["isError"] is True
    assert "Fix: Split the content" in refused["content"][0]["text"]


@pytest.mark.parametrize("beside", [{"dataset": "kept"}, {"data_id": ID, "dataset_id": ID}, {"dataset_id": ID}])
def test_everything_beside_something_erases_nothing(url: str, beside: dict[str, str]) -> None:
    result_of(post(url, a_call("remember", {"data": "Ferns like shade.", "dataset_name": "everything-beside"})))

    refused = result_of(post(url, a_call("forget", {"everything": True, **beside})))
    assert refused["isError"]
    assert "'everything' erases all that you own" in refused["content"][0]["text"]
    found = result_of(post(url, a_call("recall", {"query": "ferns", "datasets": "everything-beside"})))
    assert "Ferns like shade." in found["content"][0]["text"]


def test_more_datasets_than_a_recall_looks_through_are_refused_by_number(url: str) -> None:
    names = ",".join(f"set-{number}" for number in range(101))

    refused = result_of(post(url, a_call("recall", {"query": "q", "datasets": names})))
    assert refused["isError"]
    assert refused["content"][0]["text"] == "Error: Recall failed: datasets must hold at most 100 names or ids."


def test_content_is_named_by_the_argument_it_came_in(url: str) -> None:
    as_text = result_of(post(url, a_call("remember", {"data": "a\0b"})))

    assert as_text["content"][0]["text"] == "Error: Remember failed: data must not contain NUL characters"
