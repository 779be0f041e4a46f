import pytest

from dormouse.errors import InvalidInputError
from dormouse.ingest.sound_text import check_characters, check_text


@pytest.mark.parametrize("text", ["", " \n\t", "\u3000\u2003"])
def test_blank_text_is_refused_with_its_field(text: str) -> None:
    with pytest.raises(InvalidInputError, match="data must not be empty or blank") as caught:
        check_text(text, "data")

    assert caught.value.field == "data"


@pytest.mark.parametrize(
    ("text", "rule"), [("a\0b", "NUL"), ("a\ud800b", "surrogates"), ("\udc00", "surrogates")]
)
def test_what_no_store_can_hold_is_refused(text: str, rule: str) -> None:
    with pytest.raises(InvalidInputError, match=rule):
        check_text(text, "data")


@pytest.mark.parametrize("text", ["Ada", "爱丽丝住在上海", "مرحبا", "Xin chào Việt Nam", "👩‍👩‍👧"])
def test_every_script_is_sound(text: str) -> None:
    check_text(text, "data")


def test_a_part_of_a_document_may_be_empty() -> None:
    check_characters("", "title")
