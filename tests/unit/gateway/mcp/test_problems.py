"""Every error of the engine has a text for models."""

import pytest

from dormouse import errors
from dormouse.errors import DormouseError, InvalidInputError, OverloadedError, StoreUnavailableError
from dormouse_gateway.mcp.problems import PROBLEMS, problem_text


def _classes(root: type[DormouseError]) -> list[type[DormouseError]]:
    return [root, *(found for child in root.__subclasses__() for found in _classes(child))]


def test_no_code_is_missing_and_none_is_left_over() -> None:
    ours = [found for found in _classes(DormouseError) if found.__module__ == errors.__name__]

    assert {found.code for found in ours} == set(PROBLEMS)


def test_bad_input_is_told_in_the_engines_words() -> None:
    error = InvalidInputError("query must not be blank.", field="query")

    assert problem_text(error, "Error: Recall failed: ") == "Error: Recall failed: query must not be blank."


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            StoreUnavailableError(port="graph", retry_after_s=7),
            "Error: the graph store does not answer\nFix: Try again in 7 s; nothing was lost.",
        ),
        (
            OverloadedError("queue of 100 is full", retry_after_s=2),
            "Error: too much is asked at once\nFix: Try again in 2 s.",
        ),
        (
            None,
            "Error: something went wrong inside\nFix: Tell whoever runs the server to look at its log.",
        ),
    ],
)
def test_trouble_is_told_with_what_to_do(error: DormouseError | None, text: str) -> None:
    assert problem_text(error, "Error: ") == text
