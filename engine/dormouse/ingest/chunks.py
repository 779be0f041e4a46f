"""Text to chunks of about 110 to 150 words that end where a paragraph, a line or a sentence ends.

Paragraphs are packed together until a chunk is full. Where several ends would do, the words themselves choose,
so that an inserted paragraph moves its neighbours only and later chunks keep their text and their ids.
Source: retrieval, "Indexed units".
"""

import re
import zlib
from collections.abc import Iterator

from semantic_text_splitter import TextSplitter

MAX_WORDS = 150
FULL_WORDS = 110
_LEAST_WORDS = 75  # from here on a chunk may end early where the words choose so
_WORD_CHARACTERS = 6  # average with its space; turns words into the splitter's characters
_UNSPACED_CHARACTERS = 1.7  # characters of a script without spaces that weigh one word
_STRETCH_CHARACTERS = 16 * 1024  # the splitter's time grows faster than its text

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LIST_ITEM = re.compile(r"\s*(?:[-*+•|>#]|\d+[.)])")
_SENTENCE_END = re.compile(r"[.!?。！？:;\"”)]\s*$")

_spaced = TextSplitter((FULL_WORDS * _WORD_CHARACTERS, MAX_WORDS * _WORD_CHARACTERS), trim=False)
_unspaced = TextSplitter(
    (int(FULL_WORDS * _UNSPACED_CHARACTERS), int(MAX_WORDS * _UNSPACED_CHARACTERS)), trim=False
)


def chunks_of(text: str, *, keeps_lines: bool = False) -> Iterator[str]:
    """Together they hold every character of `text` but white space at their ends."""
    pending: list[str] = []
    weight = 0.0
    for unit in _units(text, keeps_lines=keeps_lines):
        added = weight_of(unit)
        if pending and weight + added > MAX_WORDS:
            yield from _closed(pending)
            pending, weight = [], 0.0
        pending.append(unit)
        weight += added
        if weight >= FULL_WORDS or (weight >= _LEAST_WORDS and _is_chosen(unit)):
            yield from _closed(pending)
            pending, weight = [], 0.0
    yield from _closed(pending)


def weight_of(text: str) -> float:
    """Length in words; scripts without spaces and unbroken strings weigh by their characters."""
    words = len(text.split())
    if text.isascii():
        return max(words, len(text) / (2 * _WORD_CHARACTERS))
    unspaced = len(_UNSPACED.findall(text))
    return max(words + unspaced / _UNSPACED_CHARACTERS, len(text) / (2 * _WORD_CHARACTERS))


def _closed(units: list[str]) -> Iterator[str]:
    chunk = "".join(units).strip("\n").rstrip()
    if chunk.strip():
        yield chunk


def _is_chosen(unit: str) -> bool:
    return zlib.crc32(unit.strip().encode()) % 2 == 0


def _units(text: str, *, keeps_lines: bool) -> Iterator[str]:
    for paragraph in _paragraphs(text):
        if weight_of(paragraph) <= MAX_WORDS:
            yield paragraph
        elif not keeps_lines and _is_wrapped(paragraph):
            yield from _pieces(paragraph)
        else:
            for line in paragraph.splitlines(keepends=True):
                yield from [line] if weight_of(line) <= MAX_WORDS else _pieces(line)


def _paragraphs(text: str) -> Iterator[str]:
    """Each with the blank lines behind it."""
    pending: list[str] = []
    was_blank = False
    for line in text.splitlines(keepends=True):
        is_blank = line.isspace()
        if was_blank and not is_blank:
            yield "".join(pending)
            pending = []
        pending.append(line)
        was_blank = is_blank
    if pending:
        yield "".join(pending)


def _is_wrapped(paragraph: str) -> bool:
    """Prose broken into lines of a fixed width: its line ends mean nothing."""
    lines = paragraph.strip().split("\n")
    if len(lines) < 2:
        return True
    if sum(map(len, lines)) < 45 * len(lines):
        return False
    if sum(_LIST_ITEM.match(line) is not None for line in lines) > 0.2 * len(lines):
        return False
    return sum(not _SENTENCE_END.search(line) for line in lines[:-1]) > 0.6 * (len(lines) - 1)


def _pieces(text: str) -> Iterator[str]:
    """Cut at sentences, else at words, else between characters that belong apart."""
    for stretch in _stretches(text):
        if stretch.isspace():
            yield stretch
            continue
        splitter = _unspaced if len(_UNSPACED.findall(stretch)) > 0.2 * len(stretch) else _spaced
        # Line ends outrank sentence ends for the splitter; here they are only the width of a page.
        smooth = stretch.replace("\n", " ")
        at = 0
        for piece in splitter.chunks(smooth):
            yield stretch[at : at + len(piece)]
            at += len(piece)


def _stretches(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > _STRETCH_CHARACTERS:
        window = text[start : start + _STRETCH_CHARACTERS]
        end = max(window.rfind(". "), window.rfind("。"), len(window) // 2 - 1) + 1
        if end == len(window) // 2:
            end = max(window.rfind(" ") + 1, end)
        yield text[start : start + end]
        start += end
    yield text[start:]
