from dataclasses import replace

from dormouse.recall.fuse import Ranked
from dormouse.recall.graph import is_after, select
from tests.builders import NOW_MS, a_passage

ONE = replace(a_passage("first half", order=0, speaker="assistant"), external_id="m1")
HALF = replace(a_passage("second half", order=1, speaker="assistant"), external_id="m1")
OTHER = replace(a_passage("another message", order=2, speaker="user"), external_id="m2")
KNOWN = {each.id: each for each in (ONE, HALF, OTHER)}
RANKED = [Ranked(ONE.id, 3.0), Ranked(HALF.id, 2.0), Ranked(OTHER.id, 1.0)]


def test_a_message_takes_one_place_where_places_are_few() -> None:
    assert [each.passage for each in select(RANKED, KNOWN, 2)] == [ONE.id, OTHER.id]


def test_further_chunks_of_a_message_fill_places_that_stay_empty() -> None:
    assert [each.passage for each in select(RANKED, KNOWN, 5)] == [ONE.id, HALF.id, OTHER.id]


def test_chunks_of_a_document_are_not_one_message() -> None:
    chunks = {each.id: replace(each, speaker="") for each in KNOWN.values()}

    assert [each.passage for each in select(RANKED, chunks, 2)] == [ONE.id, HALF.id]


def test_what_is_hidden_takes_no_place() -> None:
    visible = {OTHER.id: OTHER}

    assert [each.passage for each in select(RANKED, visible, 2)] == [OTHER.id]


def test_what_was_said_after_the_asked_for_instant_is_unknown_then() -> None:
    assert is_after(replace(ONE, occurred_ms=NOW_MS + 1), NOW_MS)
    assert not is_after(replace(ONE, occurred_ms=NOW_MS), NOW_MS)
    assert not is_after(ONE, NOW_MS)
