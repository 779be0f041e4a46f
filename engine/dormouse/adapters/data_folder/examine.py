"""Facts about a data folder for whoever looks for trouble: read-only, beside a running owner too."""

import hashlib
import os
import re
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

_SQLITE_MAGIC = b"SQLite format 3\0"
_BUSY_TIMEOUT_S = 5.0
_DATABASE_SUFFIX = ".sqlite3"
_IN_ORDER = ("catalog.sqlite3", "graph.sqlite3", "vectors")
_BLOB_NAME = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Database:
    """`trouble` is empty for a sound file, else SQLite's own first complaint."""

    name: str
    trouble: str


@dataclass(frozen=True, slots=True)
class Blobs:
    checked: int
    damaged: int


def used_bytes(folder: Path) -> int:
    """What the files take on disk; a file that goes away meanwhile counts nothing."""
    return sum(_allocated(path) for path in _files(folder))


def folders_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


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
    """Every file that is or should be a SQLite database, checked page by page, and those that are lost."""
    found = [
        Database(path.relative_to(folder).as_posix(), _complaint(path))
        for path in sorted(_files(folder))
        if _is_database(path) or (path.name.endswith(_DATABASE_SUFFIX) and not path.name.startswith("."))
    ]
    return found + [Database(name, "is missing or no file") for name in _lost(folder)]


def damaged_blobs(folder: Path, *, budget_s: float) -> Blobs | None:
    """Newest first, for `budget_s` seconds: each is named by the hash of its bytes. None if it is a file."""
    if folder.exists() and not folder.is_dir():
        return None
    deadline = time.monotonic() + budget_s
    paths = sorted(_files(folder), key=_modified, reverse=True)
    checked = damaged = 0
    for path in paths:
        if time.monotonic() > deadline:
            break
        if _BLOB_NAME.fullmatch(path.name):
            checked += 1
            damaged += not _is_sound_blob(path)
    return Blobs(checked, damaged)


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC
    except OSError:
        return False


def _lost(folder: Path) -> list[str]:
    """A server makes them in this order; what is missing before a later one is lost."""
    made = [(folder / name).exists() for name in _IN_ORDER]
    return [
        name
        for number, name in enumerate(_IN_ORDER)
        if name.endswith(_DATABASE_SUFFIX) and any(made[number:]) and not (folder / name).is_file()
    ]


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _is_sound_blob(path: Path) -> bool:
    """One that goes away meanwhile is not damaged."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == path.name
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _complaint(path: Path) -> str:
    if not _is_database(path):
        return "is not a database"
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
