import os
from pathlib import Path

import pytest

from dormouse.cli.walk import Found, Skipped, files_under, is_ignored, reason_to_skip
from dormouse.model.document import CONTENT_LIMIT_BYTES


def test_names_are_relative_to_the_folders_parent_and_in_a_stable_order(tmp_path: Path) -> None:
    notes = tmp_path / "my notes"
    (notes / "b").mkdir(parents=True)
    for name in ("z.md", "a.md", "b/c.txt"):
        (notes / name).write_text("words")

    found = [each.name for each in files_under(notes)]

    assert found == ["my notes/a.md", "my notes/z.md", "my notes/b/c.txt"]


def test_a_folder_named_by_a_dot_still_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("words")
    monkeypatch.chdir(tmp_path)

    assert [each.name for each in files_under(Path())] == [f"{tmp_path.name}/a.md"]


@pytest.mark.parametrize("folder", [".git", ".venv", "node_modules", "__pycache__"])
def test_what_tools_wrote_is_left_out_without_a_word(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "a.md").write_text("words")
    (tmp_path / ".hidden").write_text("words")

    assert is_ignored(folder)
    assert list(files_under(tmp_path)) == []


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "loop").symlink_to(tmp_path)
    (tmp_path / "inner" / "a.md").write_text("words")

    assert [each.name for each in files_under(tmp_path)] == [f"{tmp_path.name}/inner/a.md"]


def test_a_pipe_is_named_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")

    assert list(files_under(tmp_path)) == [Skipped(f"{tmp_path.name}/pipe.txt", "not a regular file")]


def test_a_missing_file_is_named_with_its_reason(tmp_path: Path) -> None:
    assert list(files_under(tmp_path / "no.md")) == [Skipped("no.md", "no such file or directory")]


def test_a_file_by_itself_keeps_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("words")

    assert list(files_under(tmp_path / "a.md")) == [Found(tmp_path / "a.md", "a.md", 5)]


@pytest.mark.parametrize(
    ("name", "size_bytes", "first_bytes", "reason"),
    [
        ("a.md", 5, b"words", None),
        ("empty.md", 0, b"", "empty"),
        ("photo.JPG", 5, b"\xff\xd8", "unsupported type (.jpg)"),
        ("blob", 5, b"a\0b", "binary"),
        ("report.pdf", 5, b"%PDF\0", None),
        ("windows.txt", 6, b"\xff\xfea\0b\0", None),
        ("big.txt", CONTENT_LIMIT_BYTES, b"a", None),
        ("bigger.txt", CONTENT_LIMIT_BYTES + 1, b"a", "larger than 10 MiB"),
    ],
)
def test_the_reason_is_what_a_user_can_act_on(
    name: str, size_bytes: int, first_bytes: bytes, reason: str | None
) -> None:
    assert reason_to_skip(name, size_bytes, first_bytes) == reason
