import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.adapters.extractor.salvage import MAX_ITEMS, Salvaged, salvage

ITEMS = [{"type": "fact", "content": 'Ada {lives} in "London".'}, {"type": "fact", "content": "It rained."}]
WHOLE = json.dumps({"items": ITEMS, "entities": [{"name": "Ada", "kind": "person"}]})


@pytest.mark.parametrize(
    "reply",
    [WHOLE, f"```json\n{WHOLE}\n```", f"Here you are:\n{WHOLE}\nAnything else?", WHOLE.replace("}]", "},]")],
)
def test_whatever_stands_around_a_whole_reply_is_passed_by(reply: str) -> None:
    assert salvage(reply) == Salvaged(tuple(ITEMS), ({"name": "Ada", "kind": "person"},))


def test_a_bare_list_is_taken_for_the_items() -> None:
    assert salvage(json.dumps(ITEMS)).items == tuple(ITEMS)


def test_a_cut_reply_keeps_every_item_before_the_cut() -> None:
    cut = WHOLE[: WHOLE.index("It rained")]

    found = salvage(cut)

    assert found == Salvaged((ITEMS[0],), (), broken=1)


def test_one_broken_item_does_not_cost_the_others() -> None:
    broken = json.dumps({"items": ITEMS}).replace(
        '"type": "fact", "content": "It', '"type" "fact", "content": "It'
    )

    assert salvage(broken) == Salvaged((ITEMS[0],), (), broken=1)


def test_what_is_no_object_is_counted() -> None:
    assert salvage('{"items": ["x", {"content": "y"}], "entities": 3}') == Salvaged(({"content": "y"},), (), 2)


@pytest.mark.parametrize(
    "reply", ["", "I cannot help with that.", "null", "{}", "[]", "{" * 5000, '{"items": ']
)
def test_a_useless_reply_holds_nothing(reply: str) -> None:
    assert salvage(reply).items == ()


def test_items_are_bounded() -> None:
    assert len(salvage(json.dumps({"items": [{"content": "x"}] * 1000})).items) == MAX_ITEMS


@given(st.integers(0, len(WHOLE)))
def test_wherever_a_reply_is_cut_what_is_found_is_from_it(at: int) -> None:
    found = salvage(WHOLE[:at])

    assert all(item in ITEMS for item in found.items)


@given(st.text(alphabet='{}[]",:\\ abc', max_size=200))
def test_no_reply_is_an_error(reply: str) -> None:
    salvage(reply)
