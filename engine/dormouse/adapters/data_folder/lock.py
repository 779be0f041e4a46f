"""One process owns a data folder for as long as it lives.

The operating system holds the lock and drops it however the process ends, so a killed owner leaves nothing
to clean up. The lock file stays: removing it would let two owners hold two files of the same name.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dormouse.errors import DataFolderBusyError, MisconfiguredError

LOCK_NAME = "owner.lock"
_NOT_WRITABLE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_LOCKED_BYTE = 0  # Windows locks a range of bytes; one is enough and need not exist


@contextmanager
def owned(folder: Path) -> Iterator[None]:
    """Own the folder until the block ends, making it (mode 0700) if needed.

    Raises `DataFolderBusyError` at once when another process owns it, and `MisconfiguredError` when it
    cannot be written.
    """
    handle = _opened(folder)
    try:
        try:
            _lock(handle)
        except OSError as exc:
            raise DataFolderBusyError("another process owns the data folder") from exc
        yield
    finally:
        os.close(handle)


def is_owned(folder: Path) -> bool:
    """Whether a process owns it, whether or not that answers."""
    if not folder.is_dir():
        return False
    try:
        with owned(folder):
            return False
    except DataFolderBusyError:
        return True


def _opened(folder: Path) -> int:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Not inherited by children (PEP 446): a parser that outlives a killed owner must not keep the folder.
        return os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as exc:
        if exc.errno not in _NOT_WRITABLE:
            raise
        raise MisconfiguredError(
            f"the data folder {folder} cannot be written: give yourself the right to, or choose another one "
            "with DORMOUSE_DATA_DIR",
            setting="DATA_DIR",
        ) from exc


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
