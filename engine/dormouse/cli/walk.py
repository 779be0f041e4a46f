"""Which files of a folder are worth remembering, and why the others are not.

Decided by name first and then by the first bytes. Nothing is skipped silently: hidden and generated folders
are counted as one, everything else is named with its reason.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dormouse.model.document import CONTENT_LIMIT_BYTES

GENERATED = frozenset({"node_modules", "__pycache__", "venv", "site-packages", "target", "dist", "build"})
# Formats that a reader turns into text; their bytes look binary.
READABLE = frozenset(
    """
    pdf docx doc pptx ppt xlsx xls odt ods odp epub rtf eml mbox mbx msg html htm xhtml xml ipynb
    """.split()
)
MAILBOXES = frozenset({"mbox", "mbx"})  # of any size: they are sent in pieces
UNREADABLE = frozenset(
    """
    png jpg jpeg gif bmp webp ico tif tiff heic psd mp3 wav flac ogg m4a mp4 mov avi mkv webm
    zip gz bz2 xz zst 7z rar tar jar war whl exe dll so dylib a o obj class pyc bin iso dmg deb rpm
    woff woff2 ttf otf eot db sqlite sqlite3 parquet onnx pt safetensors npy npz lock
    """.split()
)
_SNIFFED_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Found:
    """`name` is relative to the parent of the folder that was asked for, with forward slashes."""

    path: Path
    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Skipped:
    name: str
    reason: str


def files_under(start: Path) -> Iterator[Found | Skipped]:
    """A file itself, or everything below a folder in a stable order. Links to folders are not followed."""
    root = start.resolve()
    if not root.is_dir():
        yield _judged(start, root.name)
        return
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if not is_ignored(name))
        for name in sorted(names):
            path = Path(folder) / name
            if not name.startswith("."):
                yield _judged(path, f"{root.name}/{path.relative_to(root).as_posix()}")


def is_ignored(folder: str) -> bool:
    """Hidden folders and those that tools fill: nobody wrote what lies there."""
    return folder.startswith(".") or folder in GENERATED


def reason_to_skip(name: str, size_bytes: int, first_bytes: bytes) -> str | None:
    """Why this file is not sent, or None when it is."""
    suffix = name.rpartition(".")[2].lower()
    if size_bytes == 0:
        return "empty"
    if suffix in UNREADABLE:
        return f"unsupported type (.{suffix})"
    if size_bytes > CONTENT_LIMIT_BYTES and suffix not in MAILBOXES:
        return f"larger than {CONTENT_LIMIT_BYTES // 1024 // 1024} MiB"
    if suffix not in READABLE and b"\0" in first_bytes and not _is_utf16(first_bytes):
        return "binary"
    return None


def _judged(path: Path, name: str) -> Found | Skipped:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return Skipped(name, "not a regular file")
        with path.open("rb") as stream:
            reason = reason_to_skip(name, status.st_size, stream.read(_SNIFFED_BYTES))
    except OSError as exc:
        return Skipped(name, (exc.strerror or "cannot be read").lower())
    return Skipped(name, reason) if reason else Found(path, name, status.st_size)


def _is_utf16(first_bytes: bytes) -> bool:
    return first_bytes.startswith((b"\xff\xfe", b"\xfe\xff"))
