"""What a query says about itself, without I/O: language, terms, dates, quotations, who asks about whom."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from dormouse.ids import TermId
from dormouse.model.interval import Interval
from dormouse.text.dates import MONTH_NAMES, DatedSpan, find_dates
from dormouse.text.language import detect_language
from dormouse.text.stop_words import stop_words
from dormouse.text.terms import query_terms, words

_QUOTED = re.compile(r"\"([^\"]{2,200})\"|“([^”]{2,200})”|«([^»]{2,200})»|「([^」]{1,200})」")
_FIRST_PERSON = re.compile(
    r"\b(?:i|i'm|i've|i'd|me|my|mine|myself|we|us|our|ours|ich|mir|mich|mein\w*|wir|uns\w*|je|j'\w+|moi|mon|ma|"
    r"mes|nous|yo|mi|mis|conmigo|eu|meu|minha|io|mio|mia|tôi|я|мне|мой|моя|моё|мои|мы|saya|ben|benim)\b|[我私俺僕]|أنا",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\d{4}")
_AHEAD = frozenset({"next", "coming", "this"})
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
        dates=_asked_about(find_dates(query, now_ms, zone), query),
        quoted=tuple(next(filter(None, found.groups())) for found in _QUOTED.finditer(query)),
        is_first_person=_FIRST_PERSON.search(query.replace("’", "'")) is not None,
    )


def _asked_about(spans: Sequence[DatedSpan], query: str) -> tuple[DatedSpan, ...]:
    """A month to come without its year is more often the last one of that name: both are meant."""
    return tuple(
        each
        for span in spans
        for each in ([span, _year_before(span)] if span.is_future and _is_yearless(span, query) else [span])
    )


def _is_yearless(span: DatedSpan, query: str) -> bool:
    words_of = set(query[span.start : span.end].casefold().split())
    return (
        bool(words_of & MONTH_NAMES)
        and not (words_of & _AHEAD)
        and not _YEAR.search(query, span.start, span.end)
    )


def _year_before(span: DatedSpan) -> DatedSpan:
    start_ms, end_ms = _last_year(span.interval.start_ms), _last_year(span.interval.end_ms)
    return replace(span, interval=Interval(start_ms, end_ms), is_future=False)


def _last_year(instant_ms: int) -> int:
    at = datetime.fromtimestamp(instant_ms / 1000, UTC)
    day = 28 if (at.month, at.day) == (2, 29) else at.day
    return int(at.replace(year=at.year - 1, day=day).timestamp() * 1000)


def names(speaker: str) -> frozenset[str]:
    """The words by which a question may name this speaker."""
    return frozenset(
        word for word in words(speaker) if len(word) >= SHORTEST_NAME and word not in stop_words("en")
    )
