"""Finding tools by words."""

from hypothesis import given
from hypothesis import strategies as st

from dormouse_gateway.contracts.graph.tools.search_tools import MAX_FOUND, rank

WORDS = st.lists(st.sampled_from(["status", "ingestion", "memory", "file", "forget"]), max_size=8)


def test_the_rarer_word_counts_more() -> None:
    documents = [["memory", "status"], ["memory", "file"], ["memory", "file"]]

    assert rank("status file memory", documents)[0] == 0


def test_words_are_compared_as_they_stand() -> None:
    assert rank("remembered datasets", [["remember", "dataset"]]) == []


def test_nothing_is_found_among_nothing() -> None:
    assert rank("status", []) == []


@given(st.text(max_size=40), st.lists(WORDS, max_size=15))
def test_every_find_shares_a_word_and_comes_once(query: str, documents: list[list[str]]) -> None:
    found = rank(query, documents)

    assert len(found) == len(set(found)) <= MAX_FOUND
    assert all(set(query.lower().split()) or not found for _ in found)


@given(st.lists(WORDS, min_size=1, max_size=10))
def test_a_shared_word_is_always_enough(documents: list[list[str]]) -> None:
    found = rank("status", documents)

    assert set(found) == {index for index, words in enumerate(documents) if "status" in words}
