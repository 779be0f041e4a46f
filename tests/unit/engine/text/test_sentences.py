import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.text.sentences import sentences


def of(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada came. Bob left! Why? ", ["Ada came.", "Bob left!", "Why?"]),
        ("Dr. Smith saw J. Doe at 3.5 km. He left.", ["Dr. Smith saw J. Doe at 3.5 km.", "He left."]),
        ('She said "Go." Then she went.', ['She said "Go."', "Then she went."]),
        ("我住在上海。你呢？好！", ["我住在上海。", "你呢？", "好！"]),
        ("- one\n- two\n\nThree", ["- one", "- two", "Three"]),
        ("e.g. this one. And more", ["e.g. this one.", "And more"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_pauses(text: str, expected: list[str]) -> None:
    assert of(text) == expected


def test_prose_wrapped_at_a_width_goes_on() -> None:
    text = "This is a rather long line of prose that goes on to\nthe next line and ends here. Done."

    assert of(text) == [text[: text.index(" Done")], "Done."]


@given(st.text(alphabet="aB .!?\n。\"'é", max_size=200))
def test_sentences_hold_every_character_but_white_space(text: str) -> None:
    assert "".join("".join(of(text)).split()) == "".join(text.split())
