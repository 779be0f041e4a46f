"""Whether a passage really says what is quoted of it, and in which exact words. Pure.

White space, punctuation and case may differ; beyond that a quote that is nearly there is put right, and
one that is not is refused: nothing is remembered that nobody said.
"""

import re
import unicodedata
from difflib import SequenceMatcher

SHORTEST = 3  # characters; anything shorter is found everywhere
LONGEST = 1_000
ALIKE = 0.85  # of the quote's words, in order

_WORD = re.compile(r"\w+(?:['’]\w+)*")


def found_in(quote: str, text: str) -> str | None:
    """The passage's own words for the quote; None when it does not say so."""
    wanted = quote.strip().strip("\"'“”…").strip()
    if not SHORTEST <= len(wanted) <= LONGEST:
        return None
    if wanted in text:
        return wanted  # also where no word is found, as in scripts of pictures
    said = [match.span() for match in _WORD.finditer(text)]
    words = [_folded(text[start:end]) for start, end in said]
    sought = [_folded(match[0]) for match in _WORD.finditer(wanted)]
    span = _exact(sought, words) or _alike(sought, words)
    return None if span is None else text[said[span[0]][0] : said[span[1] - 1][1]]


def _folded(word: str) -> str:
    return unicodedata.normalize("NFKC", word).replace("’", "'").casefold()


def _exact(sought: list[str], words: list[str]) -> tuple[int, int] | None:
    """The same words in the same order, whatever stands between them on paper."""
    size = len(sought)
    for start in range(len(words) - size + 1 if size else 0):
        if words[start : start + size] == sought:
            return start, start + size
    return None


def _alike(sought: list[str], words: list[str]) -> tuple[int, int] | None:
    """The stretch that shares nearly all words; a single word must be exact."""
    if len(sought) < 4:
        return None
    matcher = SequenceMatcher(a=words, b=sought, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    shared = sum(block.size for block in blocks)
    if not blocks or shared < ALIKE * len(sought):
        return None
    start, end = blocks[0].a, blocks[-1].a + blocks[-1].size
    # Words in between belong to the quote only if they are few: else it was put together from afar.
    return (start, end) if shared >= ALIKE * (end - start) else None
