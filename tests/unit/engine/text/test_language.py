import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.text.language import detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("When did you go to the market with her?", "en"),
        ("Wann bist du in die Stadt gefahren und wer war das?", "de"),
        ("Quand est-ce que vous êtes allés dans la ville avec elle ?", "fr"),
        ("¿Cuándo fue que el perro se comió la comida?", "es"),
        ("Tôi không thích những món này", "vi"),
        ("Где ты был, когда это случилось?", "ru"),
        ("متى ذهبت إلى القاهرة", "ar"),
        ("我喜欢北京", "zh"),
        ("東京へ行きました", "ja"),
        ("서울에 갔어요", "ko"),
        ("मुझे पसंद है", "hi"),
        ("ฉันรักกรุงเทพ", "th"),
    ],
)
def test_a_sentence_tells_its_language(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize("text", ["", "   ", "🎉🚀", "12:30", "Zürich", "\ud800"])
def test_what_says_too_little_is_unknown(text: str) -> None:
    assert detect_language(text) == ""


@given(st.text())
def test_any_text_has_a_language_or_none(text: str) -> None:
    assert len(detect_language(text)) in (0, 2)
