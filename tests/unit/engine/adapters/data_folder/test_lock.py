import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dormouse.adapters.data_folder.lock import owned
from dormouse.errors import DataFolderBusyError, MisconfiguredError

_HOLDER = """
import sys
from pathlib import Path
from dormouse.adapters.data_folder.lock import owned
with owned(Path(sys.argv[1])):
    print("owned", flush=True)
    sys.stdin.read()
"""


def test_a_second_owner_is_refused_at_once(tmp_path: Path) -> None:
    with owned(tmp_path), pytest.raises(DataFolderBusyError), owned(tmp_path):
        pass


def test_the_folder_is_free_again_afterwards_and_was_made_private(tmp_path: Path) -> None:
    folder = tmp_path / "a folder" / "with spaces"
    with owned(folder):
        pass

    with owned(folder):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_killed_owner_leaves_the_folder_free(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"owned\n"
        with pytest.raises(DataFolderBusyError), owned(tmp_path):
            pass
        holder.kill()
        holder.wait()

        with owned(tmp_path):
            pass


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_folder_that_cannot_be_written_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_given: object) -> int:
        raise OSError(number, "refused")

    monkeypatch.setattr(os, "open", refuse)

    with pytest.raises(MisconfiguredError, match="choose another one with DORMOUSE_DATA_DIR"), owned(tmp_path):
        pass
