import pytest

from dormouse.cli import terminal
from dormouse.cli.terminal import printable, progress


def test_control_codes_in_a_memory_never_reach_the_terminal() -> None:
    assert printable("a\x1b[31mred\x07") == "a\ufffd[31mred\ufffd"


def test_lone_surrogates_are_shown_as_something() -> None:
    assert "\ud800" not in printable("a\ud800b")


def test_letters_of_every_script_stay() -> None:
    assert printable("日本語 العربية tiếng Việt 🦔") == "日本語 العربية tiếng Việt 🦔"


def test_progress_outside_a_terminal_ends_with_a_plain_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(2) as shown:
        shown.advance("a.md")
        shown.advance("b.md")

    assert capsys.readouterr().err == "2/2 b.md\n"


def test_how_far_one_file_is_stands_beside_how_many_are_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "_PLAIN_INTERVAL_S", 0.0)

    with progress(2) as shown:
        shown.advance("a.md")
        shown.tell("b.pdf: 400 of 1,800 passages")

    assert capsys.readouterr().err == "1/2 a.md\n1/2 b.pdf: 400 of 1,800 passages\n"


def test_a_file_that_is_soon_done_is_not_told_of_before(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(1) as shown:
        shown.tell("b.pdf: is being read")

    assert capsys.readouterr().err == ""
