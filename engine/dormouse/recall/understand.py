"""What a query says about itself, without I/O: language, terms, dates, quotations, who asks about whom."""

import re
from collections import Counter
from dataclasses import dataclass

from dormouse.ids import TermId
from dormouse.text.dates import DatedSpan, find_dates
from dormouse.text.language import detect_language
from dormouse.text.stop_words import stop_words
from dormouse.text.terms import query_terms, words

_QUOTED = re.compile(r"\"([^\"]{2,200})\"|“([^”]{2,200})”|«([^»]{2,200})»|「([^」]{1,200})」")
_FIRST_PERSON = re.compile(
    r"\b(?:i|i'm|i've|i'd|me|my|mine|myself|we|us|our|ours|ich|mir|mich|mein\w*|wir|uns\w*|je|j'\w+|moi|mon|ma|"
    r"mes|nous|yo|mi|mis|conmigo|eu|meu|minha|io|mio|mia|tôi|я|мне|мой|моя|моё|мои|мы|saya|ben|benim)\b|[我私俺僕]|أنا",
    re.IGNORECASE,
)
SHORTEST_NAME = 3  # characters; "AI" or "PM" as a speaker would match half of all questions


@dataclass(frozen=True, slots=True)
class Understanding:
    """`words` are normalised and in order, `is_first_person` tells that the asker asks about themselves."""

    language: str
    terms: Counter[TermId]
    words: frozenset[str]
    dates: tuple[DatedSpan, ...]
    quoted: tuple[str, ...]
    is_first_person: bool


def understand(query: str, now_ms: int, zone: str = "UTC") -> Understanding:
    """Relative dates ("last week") are read from `now_ms`, in `zone`."""
    language = detect_language(query)
    return Understanding(
        language=language,
        terms=query_terms(query, language),
        words=frozenset(words(query)),
        dates=find_dates(query, now_ms, zone),
        quoted=tuple(next(filter(None, found.groups())) for found in _QUOTED.finditer(query)),
        is_first_person=_FIRST_PERSON.search(query.replace("’", "'")) is not None,
    )


def names(speaker: str) -> frozenset[str]:
    """The words by which a question may name this speaker."""
    return frozenset(
        word for word in words(speaker) if len(word) >= SHORTEST_NAME and word not in stop_words("en")
    )
