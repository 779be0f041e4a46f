import pytest

from dormouse.text.soundness import is_sound, made_sound


@pytest.mark.parametrize(
    ("text", "made"),
    [("Ada \ud800lives", "Ada lives"), ("\0", ""), ("\udc00\ud800", "")],
)
def test_what_no_store_can_hold_is_unsound_and_can_be_taken_out(text: str, made: str) -> None:
    assert (is_sound(text), made_sound(text)) == (False, made)


@pytest.mark.parametrize("text", ["", "Ada", "\U0001f600", "\ufffd\t\n"])
def test_everything_else_is_sound_and_stays(text: str) -> None:
    assert (is_sound(text), made_sound(text)) == (True, text)
