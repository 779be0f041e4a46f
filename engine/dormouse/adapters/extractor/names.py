"""Names in a text: capitalised spans, quoted titles and handles, as written. Pure.

A word that is capital only because a sentence begins with it is a name when it also stands capital elsewhere,
or when somebody of that name speaks. Months, weekdays and stop words are none.
"""

import re
from collections.abc import Collection, Iterator
from functools import cache

from dormouse.text.stop_words import stop_words

MAX_NAMES = 30
MAX_NAME_CHARACTERS = 80

_WORD = r"(?:[A-ZÀ-ÖØ-ÞŁŚŻŹČŠŽĐА-ЯΑ-Ω][^\W_]*(?:[-'’.&+][^\W_]+)*|[a-z]{1,3}[A-Z][^\W_]*)"
_LINK = r"(?:of|de|da|di|del|van|von|der|den|la|le|bin|al|el|y|and the|of the|&)"
_RANK = r"(?:(?:Dr|Mr|Mrs|Ms|Prof|St)\.[ ])"
_NUMBER = r"\d{1,4}(?:\.\d{1,4}){0,3}(?![\d:])"
_SPAN = re.compile(rf"(?<![\w@#/.]){_RANK}?{_WORD}(?:[ ](?:{_LINK}[ ])?(?:{_WORD}|{_NUMBER})){{0,5}}")
_ACTS = re.compile(  # what somebody does, right after a word that could be a name
    r" (?:said|says|wants?|wanted|works|worked|lives|lived|likes|loves|joined|moved|told|asked|thinks|prefers|"
    r"uses|owns|will|went|met|bought|called|is (?:a|an|the|my|our|his|her)|has (?:a|an|been|to)|and I)\b"
)
_NO_DOER = re.compile(r"(?:ing|ly|ion|ment|ness|ity|s)$")
_TITLE = re.compile(r"[“\"]([^“”\"\n]{2,60})[”\"]|[《「『]([^》」』\n]{1,40})[》」』]")
_HANDLE = re.compile(r"(?<![\w@])@[^\W_][\w.-]{1,38}[\w]")
_SENTENCE_START = re.compile(r"(?:^|[.!?…:\n。！？][\"'”’)]*\s*|[-*•#>|]\s+|\*\*|\d[.)]\s+|[“\"(]\s*)$")
_POSSESSIVE = re.compile(r"['’]s$")
_NO_NAMES = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december today tomorrow yesterday i i'm i'll i've i'd
    ok okay hey hi hello thanks thank wow yeah yes no oh great sure maybe please good nice cool
    awesome absolutely definitely actually well also here there let let's can could would should
    will did does do is are was were have has had if when what why how who where which since
    because after before while then next first finally however although step note it's that's
    there's we're we'll we've you're they're he's she's don't can't didn't isn't sounds congrats
    haha glad lol totally certainly any some every each all both another other just even still
    only really very so mom dad am pm jan feb mar apr jun jul aug sep sept oct nov dec""".split()
)
_LINKS = frozenset("of de da di del van von der den la le bin al el y and the &".split())


def names(text: str, language: str, known: Collection[str] = ()) -> tuple[str, ...]:
    """Each spelling once, titles and handles first; `known` are names that need no other sign."""
    common = _common_words(language)
    found: dict[str, None] = dict.fromkeys(_marked(text))
    titles = " ".join(found)
    inside = set(known)
    unsure: list[str] = []
    for match in _SPAN.finditer(text):
        at_start = bool(_SENTENCE_START.search(text[max(0, match.start() - 6) : match.start()]))
        for name in _cleaned(match[0], common, at_start=at_start):
            if at_start and not _is_sure(name, text, match):
                unsure.append(name)
            else:
                inside.add(name)
            if name not in titles:
                found[name] = None
    lone = {name for name in unsure if name not in inside}
    return tuple(name for name in found if name not in lone)[:MAX_NAMES]


@cache
def _common_words(language: str) -> frozenset[str]:
    return _NO_NAMES | stop_words(language)


def _is_sure(name: str, text: str, match: re.Match[str]) -> bool:
    """More than one word, a sign inside, a possessive, or something that somebody does."""
    if " " in name or _has_inner_sign(name) or _POSSESSIVE.search(match[0]):
        return True
    return len(name) > 2 and not _NO_DOER.search(name) and _ACTS.match(text, match.end()) is not None


def _cleaned(span: str, common: Collection[str], *, at_start: bool) -> Iterator[str]:
    words = span.split(" ")
    while words and _is_filler(words[0], common):
        words = words[1:]
    if len(words) > 1 and words[-1].isdigit() and _is_common(words[-2], common):
        words = words[:-2]  # "March 15"
    while words and (_is_filler(words[-1], common) and not words[-1][0].isdigit()):
        words = words[:-1]
    if words and at_start and len(words) > 1 and words[0].lower().endswith("ing"):
        words = words[1:]  # "Visiting Paris"
    name = _POSSESSIVE.sub("", " ".join(words)).strip(".'’-&+")
    if 1 < len(name) <= MAX_NAME_CHARACTERS and not _is_common(name, common):
        yield name


def _is_filler(word: str, common: Collection[str]) -> bool:
    return word[0].isdigit() or word in _LINKS or _is_common(word, common)


def _is_common(word: str, common: Collection[str]) -> bool:
    """Capitals throughout make a name of a common word (IT, US)."""
    return word.lower().replace("’", "'") in common and not (word.isupper() and len(word) > 1)


def _has_inner_sign(name: str) -> bool:
    """GPT-4, NASA and iPhone are names wherever they stand."""
    return any(letter.isupper() or letter.isdigit() for letter in name[1:])


def _marked(text: str) -> Iterator[str]:
    for match in _TITLE.finditer(text):
        title = (match[1] or match[2]).strip(" ,.")
        if title and len(title.split()) <= 6 and (match[2] or title[:1].isupper()):
            yield title
    for handle in _HANDLE.finditer(text):
        yield handle[0]
