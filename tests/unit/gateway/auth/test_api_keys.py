import os
from pathlib import Path

import pytest

from dormouse.errors import InvalidInputError, MisconfiguredError, NotFoundError
from dormouse_gateway.auth.api_keys import PREFIX, KeyFile
from tests.builders import NOW_MS


def test_a_new_key_speaks_for_its_user_and_nobody_else_does(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    _, secret = keys.create("ada", "laptop", NOW_MS)

    assert keys.principal_of(secret) == "ada"
    assert keys.principal_of(secret + "x") is None
    assert keys.principal_of("") is None


def test_the_secret_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    key, secret = KeyFile(path).create("ada", "laptop", NOW_MS)

    assert secret.startswith(PREFIX)
    assert secret not in path.read_text()
    assert key.id not in secret
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_revoked_key_ends_in_a_running_server(tmp_path: Path) -> None:
    """The server and the command hold the file each on their own."""
    server, command = KeyFile(tmp_path / "keys.json"), KeyFile(tmp_path / "keys.json")
    key, secret = command.create("ada", "", NOW_MS)
    kept, kept_secret = command.create("grace", "", NOW_MS + 1)
    assert server.principal_of(secret) == "ada"

    command.revoke(key.id)

    assert server.principal_of(secret) is None
    assert server.principal_of(kept_secret) == "grace"
    assert server.listing() == [kept]


def test_an_unknown_id_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        KeyFile(tmp_path / "keys.json").revoke("nope")


@pytest.mark.parametrize("user", ["", " ada", "a/b", "a\nb", "x" * 101, "-rf"])
def test_odd_users_are_refused(tmp_path: Path, user: str) -> None:
    with pytest.raises(InvalidInputError):
        KeyFile(tmp_path / "keys.json").create(user, "", NOW_MS)


@pytest.mark.parametrize("content", ["", "[]", '{"keys": [{"id": 1}]}', "\xff"])
def test_a_damaged_file_is_said_to_be_one(tmp_path: Path, content: str) -> None:
    path = tmp_path / "keys.json"
    path.write_bytes(content.encode("latin-1"))

    with pytest.raises(MisconfiguredError):
        KeyFile(path).listing()


def test_a_file_of_the_same_size_and_time_is_still_read_again(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    keys = KeyFile(path)
    _, old = keys.create("ada", "", NOW_MS)
    other = KeyFile(tmp_path / "other.json")
    _, new = other.create("ada", "", NOW_MS)
    assert keys.principal_of(old) == "ada"
    times = path.stat()

    (tmp_path / "other.json").replace(path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    assert keys.principal_of(new) == "ada"
    assert keys.principal_of(old) is None
