from typing import Any

import pytest

from dormouse.adapters.extractor.candidates import MAX_PER_PASSAGE, sift
from dormouse.adapters.extractor.salvage import Salvaged
from dormouse.model.interval import END_MS, Interval
from dormouse.model.memory import Basis, Claim, EntityDraft, MemoryKind, SourceKind
from dormouse.model.passage import Precision
from dormouse.ports.extractor import Window
from tests.builders import a_passage

MAY_MS, JUNE_MS = 1_746_057_600_000, 1_748_736_000_000  # 2025
PASSAGE = a_passage("I moved to Berlin in May and work for Acme.", speaker="Ada", occurred_ms=JUNE_MS)
WINDOW = Window((PASSAGE, a_passage("It rained.", order=1)))


def an_item(**other: object) -> dict[str, Any]:
    return {
        "type": "fact",
        "passage": "p1",
        "quote": "I moved to Berlin in May",
        "content": "Ada has lived in Berlin since May 2025.",
        "from": "2025-05",
        **other,
    }


def test_a_fact_holds_from_when_it_is_said_to_have_begun() -> None:
    sifted = sift(Salvaged((an_item(subject="Ada", predicate="lives in", object="Berlin"),)), WINDOW)

    (draft,) = sifted.extractions[0].memories
    assert (draft.kind, draft.source) == (MemoryKind.FACT, SourceKind.DOCUMENT)
    assert (draft.valid, draft.valid_basis, draft.precision) == (
        Interval(MAY_MS, END_MS),
        Basis.STATED,
        Precision.MONTH,
    )
    assert draft.claim == Claim("Ada", "lives_in", "Berlin")
    assert sifted.extractions[1].memories == ()


def test_until_june_ends_when_june_begins() -> None:
    sifted = sift(Salvaged((an_item(**{"from": "", "to": "2025-06-02"}),)), WINDOW)

    (draft,) = sifted.extractions[0].memories
    assert draft.valid == Interval(JUNE_MS, JUNE_MS + 86_400_000)
    assert draft.valid_basis is Basis.ASSERTED


def test_a_plan_is_held_from_when_it_was_said_and_is_about_its_window() -> None:
    sifted = sift(Salvaged((an_item(type="foresight", **{"from": "2025-06"}),)), WINDOW)

    (draft,) = sifted.extractions[0].memories
    assert draft.valid.start_ms == JUNE_MS
    assert draft.about is not None
    assert draft.about.start_ms == JUNE_MS


def test_what_is_inferred_says_so() -> None:
    (draft,) = sift(Salvaged((an_item(stated=False),)), WINDOW).extractions[0].memories

    assert draft.source is SourceKind.INFERRED
    assert draft.confidence < 0.7


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"passage": "p9"}, "unknown_passage"),
        ({"passage": None}, "unknown_passage"),
        ({"quote": "I moved to Paris with my family"}, "no_quote"),
        ({"quote": ""}, "no_quote"),
        ({"type": "opinion"}, "malformed"),
        ({"content": " "}, "no_content"),
        ({"content": "x" * 700}, "no_content"),
    ],
)
def test_what_cannot_be_held_to_its_passage_is_dropped_and_counted(
    change: dict[str, object], reason: str
) -> None:
    sifted = sift(Salvaged((an_item(**change), an_item())), WINDOW)

    assert len(sifted.extractions[0].memories) == 1
    assert dict(sifted.dropped) == {reason: 1}


@pytest.mark.parametrize("unsound", ["\ud800", "\0"])
@pytest.mark.parametrize("name", ["content", "quote", "subject", "object", "passage", "type", "from"])
def test_an_item_that_no_store_can_hold_is_dropped_and_the_others_are_kept(name: str, unsound: str) -> None:
    sifted = sift(Salvaged((an_item(**{name: f"Ada{unsound}"}), an_item())), WINDOW)

    assert len(sifted.extractions[0].memories) == 1
    assert dict(sifted.dropped) == {"malformed": 1}


def test_a_name_in_a_list_that_no_store_can_hold_costs_the_item_too() -> None:
    sifted = sift(Salvaged((an_item(entities=["Berlin", "A\ud800"]), an_item())), WINDOW)

    assert sifted.extractions[0].entities == ()
    assert dict(sifted.dropped) == {"malformed": 1}


def test_repetitions_and_floods_are_counted_too() -> None:
    items = [an_item(content=f"Claim {number}.") for number in range(MAX_PER_PASSAGE + 2)]

    sifted = sift(Salvaged((*items, items[0]), broken=3), WINDOW)

    assert len(sifted.extractions[0].memories) == MAX_PER_PASSAGE
    assert dict(sifted.dropped) == {"malformed": 3, "too_many": 2, "repeated": 1}


def test_entities_have_the_kind_that_was_given_beside_the_items() -> None:
    salvaged = Salvaged(
        (an_item(entities=["Berlin", "Berlin", 7, ""], subject="Ada"),),
        ({"name": "ada", "kind": "person"}, {"name": "Berlin", "kind": "nonsense"}),
    )

    assert sift(salvaged, WINDOW).extractions[0].entities == (
        EntityDraft("Berlin", "thing"),
        EntityDraft("Ada", "person"),
    )


@pytest.mark.parametrize("wrong", ["soon", "2025-13", "0000", "9999-12-31", 7, None, "2025-02-30"])
def test_a_date_that_is_none_leaves_the_time_of_saying(wrong: object) -> None:
    (draft,) = sift(Salvaged((an_item(**{"from": wrong}),)), WINDOW).extractions[0].memories

    assert (draft.valid.start_ms, draft.valid_basis) == (JUNE_MS, Basis.ASSERTED)
