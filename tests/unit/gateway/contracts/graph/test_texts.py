"""The lines that count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse_gateway.contracts.graph import texts


@pytest.mark.parametrize(
    ("hints", "line"),
    [
        (["docs"], "1 memory found (1 from docs)"),
        (["sessions", "docs", "sessions"], "3 memories found (2 from sessions, 1 from docs)"),
        (["a", "b", "c", "d", "a"], "5 memories found (2 from a, 1 from b, 1 from c)"),
        (["", ""], "2 memories found"),
        (["two\n words  apart"], "1 memory found (1 from two words apart)"),
        (["x" * 61], f"1 memory found (1 from {'x' * 60})"),
    ],
)
def test_a_summary_counts_and_says_from_where_in_order_of_first_sight(hints: list[str], line: str) -> None:
    assert texts.summary(hints) == line


@pytest.mark.parametrize(
    ("completed", "total", "line"),
    [
        (None, None, "still indexing — retry shortly"),
        (0, 0, "still indexing — retry shortly"),
        (2, 5, "still indexing — 2/5 items processed, retry shortly"),
    ],
)
def test_indexing_tells_how_far_it_is_when_that_is_known(
    completed: int | None, total: int | None, line: str
) -> None:
    assert texts.still_indexing(completed, total) == line


@given(st.lists(st.text(max_size=80), min_size=1, max_size=30))
def test_a_summary_is_always_one_line_that_starts_with_the_count(hints: list[str]) -> None:
    line = texts.summary(hints)

    assert line.startswith(f"{len(hints)} memor")
    assert len(line.splitlines()) == 1


def test_sizes_are_told_with_thousands_separators() -> None:
    assert texts.too_large(10_485_761) == "Error: file exceeds 10 MB limit (10,485,761 bytes)."
