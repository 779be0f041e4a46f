"""A revision's passages to windows that a model reads together, with a digest of all it is given. Pure.

A window ends where it is full, where a session ends, or where the words themselves choose, so that an inserted
paragraph moves its neighbours only, and what was derived from later windows still holds. Source: retrieval.
"""

import hashlib
import json
import zlib
from collections.abc import Iterator, Sequence

from dormouse.model.passage import WINDOW_BEFORE, Passage
from dormouse.ports.extractor import Window

MAX_CHARACTERS = 6_000  # about 1,500 tokens: small models lose what stands in the middle of more
MAX_PASSAGES = 24
LEAST_CHARACTERS = 2_500  # from here on a window may end early where the words choose so


def windows_of(passages: Sequence[Passage], zone: str, wish: str) -> tuple[Window, ...]:
    """Every passage is in exactly one; `before` of each are the passages before it in the same session."""
    windows = []
    for start, end in _bounds(passages):
        session = passages[start].session
        before = [each for each in passages[max(0, start - WINDOW_BEFORE) : start] if each.session == session]
        windows.append(Window(tuple(passages[start:end]), tuple(before), zone, wish))
    return tuple(windows)


def digest_of(window: Window, version: str) -> str:
    """Two windows of one digest get the same memories: what was derived from the one holds for the other."""
    given = {
        "version": version,
        "zone": window.zone,
        "wish": window.wish,
        "before": [_given(each) for each in window.before],
        "passages": [(each.id, *_given(each)) for each in window.passages],
    }
    return hashlib.sha256(json.dumps(given).encode()).hexdigest()


def _bounds(passages: Sequence[Passage]) -> Iterator[tuple[int, int]]:
    start = size = 0
    for at, passage in enumerate(passages):
        if at > start and (
            passage.session != passages[start].session
            or size + len(passage.text) > MAX_CHARACTERS
            or at - start >= MAX_PASSAGES
        ):
            yield start, at
            start, size = at, 0
        size += len(passage.text)
        if size >= LEAST_CHARACTERS and _is_chosen(passage):
            yield start, at + 1
            start, size = at + 1, 0
    if start < len(passages):
        yield start, len(passages)


def _is_chosen(passage: Passage) -> bool:
    return zlib.crc32(passage.text.encode("utf-8", "surrogatepass")) % 3 == 0


def _given(passage: Passage) -> tuple[object, ...]:
    return (
        passage.text,
        passage.heading,
        passage.kind,
        passage.speaker,
        passage.role,
        passage.occurred_ms,
        passage.offset_minutes,
        passage.precision,
    )
