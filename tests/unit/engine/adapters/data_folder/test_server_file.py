from pathlib import Path

import pytest

from dormouse.adapters.data_folder.server_file import (
    SERVER_FILE,
    ServerAddress,
    new_token,
    publish,
    published,
    withdraw,
)

AN_ADDRESS = ServerAddress(pid=7, url="http://127.0.0.1:8000", token="a token", version="0.1.0")


def test_what_was_published_is_read_back(tmp_path: Path) -> None:
    publish(tmp_path, AN_ADDRESS)

    assert published(tmp_path) == AN_ADDRESS


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    publish(tmp_path, AN_ADDRESS)
    publish(tmp_path, AN_ADDRESS)

    assert (tmp_path / SERVER_FILE).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [SERVER_FILE]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"pid": "x"}', "\xff"])
def test_a_file_that_is_not_ours_says_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / SERVER_FILE).write_bytes(content.encode("latin-1"))

    assert published(tmp_path) is None


def test_withdrawing_leaves_a_successors_file(tmp_path: Path) -> None:
    publish(tmp_path, AN_ADDRESS)

    withdraw(tmp_path, pid=8)
    assert published(tmp_path) == AN_ADDRESS

    withdraw(tmp_path, pid=7)
    assert published(tmp_path) is None


def test_tokens_are_never_the_same() -> None:
    assert len({new_token() for _ in range(100)}) == 100
