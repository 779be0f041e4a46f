import pytest

from dormouse.text.naming import is_nameable


@pytest.mark.parametrize(
    "name", ["notes", "Заметки 🦔", "ملاحظات", "日記 2026", "a-b_c.d", "می‌روم", "👩‍🔬", "..."]
)
def test_names_of_any_script_are_fine(name: str) -> None:
    assert is_nameable(name)


@pytest.mark.parametrize(
    "name",
    [
        "a\0b",
        "line\nbreak",
        "\ud800",
        "safe\u202egnp.exe",
        "\u2066x",
        "a\u200bb",
        "a\u00adb",
        "\ufeffx",
        "a\u2028b",
        "a\ufffdb",
        ".",
        "..",
    ],
)
def test_nothing_invisible_may_act_on_the_text_around_a_name(name: str) -> None:
    assert not is_nameable(name)
