"""Facts about a data folder for whoever looks for trouble: read-only, beside a running owner too."""

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

_SQLITE_MAGIC = b"SQLite format 3\0"
_BUSY_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Database:
    """`trouble` is empty for a sound file, else SQLite's own first complaint."""

    name: str
    trouble: str


def used_bytes(folder: Path) -> int:
    """What the files take on disk; a file that goes away meanwhile counts nothing."""
    return sum(_allocated(path) for path in _files(folder))


def free_bytes(folder: Path) -> int:
    """On the file system that holds the folder, or will hold it."""
    return shutil.disk_usage(_nearest(folder)).free


def is_writable(folder: Path) -> bool:
    """By writing there, or where it will be made: rights, read-only mounts and full disks all count."""
    try:
        with tempfile.TemporaryFile(dir=_nearest(folder)) as stream:
            stream.write(b"\0")
            stream.flush()
    except OSError:
        return False
    return True


def is_private(path: Path) -> bool:
    """Nobody but its owner may read it. Always true where the system has no such rights."""
    return os.name != "posix" or not path.exists() or not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)


def databases(folder: Path) -> list[Database]:
    """Every SQLite file in the folder, checked page by page."""
    found = []
    for path in sorted(_files(folder)):
        with path.open("rb") as stream:
            is_database = stream.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC
        if is_database:
            found.append(Database(path.relative_to(folder).as_posix(), _complaint(path)))
    return found


def _complaint(path: Path) -> str:
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_TIMEOUT_S)
        ) as db:
            verdict = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as exc:
        return str(exc)
    return "" if verdict == "ok" else verdict


def _nearest(folder: Path) -> Path:
    return next(each for each in (folder, *folder.absolute().parents) if each.exists())


def _files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent) / name
            if path.is_file() and not path.is_symlink():
                yield path


def _allocated(path: Path) -> int:
    try:
        status = path.stat()
    except OSError:
        return 0
    # Sparse files (logs made to full length) take less than they say.
    return getattr(status, "st_blocks", 0) * 512 or status.st_size
