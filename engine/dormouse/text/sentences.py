"""Where sentences begin and end, in any script; a line end ends one too, unless prose was wrapped there."""

import re
from collections.abc import Iterator

_ENDINGS = re.compile(r"[.!?…]+[\"'”’)\]*_]*(?=\s)|[。！？]+[」』”）]*|\n+")
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st jr sr vs no fig e.g i.e approx inc ltd corp dept est u.s u.k bzw z.b d.h".split()
)
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘]+$")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Spans without white space at their ends, in order; `text[start:end]` are the sentence's exact words."""
    start = 0
    for match in _ENDINGS.finditer(text):
        if match.end() < len(text) and not _ends(text, start, match):
            continue
        yield from _trimmed(text, start, match.end())
        start = match.end()
    yield from _trimmed(text, start, len(text))


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    mark = match[0]
    following = text[match.end() : match.end() + 3].lstrip()[:1]
    if mark[0] == "\n":
        return len(mark) > 1 or not _continues(text, start, match, following)
    if mark[0] != ".":
        return not following.islower()
    if following.islower():
        return False
    word = _before(text, start, match)
    return not (word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha()))


def _before(text: str, start: int, match: re.Match[str]) -> str:
    found = _LAST_WORD.search(text[max(start, match.start() - 20) : match.start()])
    return found[0].lower() if found else ""


def _continues(text: str, start: int, match: re.Match[str], following: str) -> bool:
    """Prose wrapped at a width: a long line without an end mark goes on with a small letter."""
    line = text[max(start, text.rfind("\n", 0, match.start()) + 1) : match.start()]
    return len(line) > 45 and line[-1:] not in ".!?:;" and following.islower()


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    lead = len(piece) - len(piece.lstrip())
    tail = len(piece.rstrip())
    if tail > lead:
        yield start + lead, start + tail
