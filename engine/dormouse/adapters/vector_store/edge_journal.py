"""Upserts that the shard has in memory but not yet in its files: one write and one fsync each.

Flushing the shard takes some seventy synchronised writes, this takes one; on a busy disk that is half a second
against a few milliseconds for every small write. The engine's own log is no choice: it keeps what was
erased for as long as its 32 MB segments are not full.

A record is length, CRC-32 and JSON. Reading ends at the first one that is not whole: cut short by a crash, it
was never acknowledged; damaged later, those behind it were. `ReachedSeq` says up to which change everything is
there, and whoever knows of later ones applies them again.
"""

import base64
import json
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from io import RawIOBase
from pathlib import Path
from typing import Any

from dormouse.adapters.vector_store.edge_record import sync_folder
from dormouse.adapters.vector_store.rows import Row

_HEAD = struct.Struct(">II")


class Journal:
    def __init__(self, path: Path) -> None:
        self._file = path.open("a+b", buffering=0)
        self.size_bytes = path.stat().st_size

    def append(self, rows: Sequence[Row], seq: int) -> None:
        """On disk when it returns; a full disk leaves no half of a record for later ones to hide behind."""
        packed = [row._replace(dense=base64.b64encode(row.dense)) for row in rows]
        body = json.dumps([seq, packed], default=bytes.decode).encode("ascii")
        record = _HEAD.pack(len(body), zlib.crc32(body)) + body
        try:
            _write_all(self._file, record)
            os.fsync(self._file.fileno())
        except OSError:
            self._file.truncate(self.size_bytes)
            raise
        self.size_bytes += len(record)

    def records(self) -> Iterator[tuple[list[Row], int]]:
        """What was appended since it was last emptied, in order."""
        self._file.seek(0)
        while head := self._file.read(_HEAD.size):
            if len(head) < _HEAD.size:
                return
            size, crc = _HEAD.unpack(head)
            body = self._file.read(size)
            if len(body) < size or zlib.crc32(body) != crc:
                return
            seq, packed = json.loads(body)
            yield [_row(*fields) for fields in packed], seq

    def empty(self) -> None:
        """Once the shard's own files hold everything."""
        if self.size_bytes:
            self._file.truncate(0)
            os.fsync(self._file.fileno())
            self.size_bytes = 0

    def close(self) -> None:
        self._file.close()


class ReachedSeq:
    """The highest change in the shard with all before it, in a file of its own since the last flush."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept = _number_in(path)
        self.seq = self._kept

    def note(self, seq: int) -> None:
        self.seq = max(self.seq, seq)

    def keep(self) -> None:
        """Before the journal is emptied: from then on nothing else says it."""
        if self.seq == self._kept:
            return
        draft = self._path.with_suffix(".new")
        with draft.open("w", encoding="ascii") as file:
            file.write(str(self.seq))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)
        sync_folder(self._path.parent)
        self._kept = self.seq


def _number_in(path: Path) -> int:
    """0 where nothing says it: then everything is applied again."""
    try:
        return int(path.read_text("ascii"))
    except (FileNotFoundError, ValueError):
        return 0


def _write_all(file: RawIOBase, content: bytes) -> None:
    """An unbuffered file may take a part only."""
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) or 0 :]


def _row(id_: str, payload: dict[str, Any], dense: str, terms: Sequence[Any], window: Sequence[Any]) -> Row:
    return Row(id_, payload, base64.b64decode(dense), (terms[0], terms[1]), (window[0], window[1]))
