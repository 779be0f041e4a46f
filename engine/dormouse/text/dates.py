"""Dates and times that a text names, absolute or relative, as half-open intervals.

ISO forms are read in every language, words in English. What is relative, or lacks its year, needs the
instant at which the text was written and is left alone without one. A year left out is the one that brings
the date nearest to that instant. "03/04/2024" says too little to be read; "03/15/2024" does not.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta, timezone
from zoneinfo import ZoneInfo

from dormouse.model.interval import Interval
from dormouse.model.passage import Precision
from dormouse.text.calendar_days import Calendar, shifted


@dataclass(frozen=True, slots=True)
class DatedSpan:
    """`text[start:end]` names the interval. `is_future`: it begins after the text was written."""

    start: int
    end: int
    interval: Interval
    precision: Precision
    is_future: bool


@dataclass(frozen=True, slots=True)
class _Reading:
    match: re.Match[str]
    calendar: Calendar
    today: date | None

    def number(self, group: str) -> int | None:
        text = self.match.group(group)
        return None if text is None else _NUMBERS.get(text.lower()) or int(text)


_Found = tuple[Interval, Precision] | None
_Rule = tuple[frozenset[str], re.Pattern[str], Callable[[_Reading], _Found]]

_MONTHS = {
    name: number
    for number, names in enumerate(
        "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|"
        "october oct|november nov|december dec".split("|"),
        start=1,
    )
    for name in names.split()
}
MONTH_NAMES = frozenset(_MONTHS)
_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        "monday mon|tuesday tue tues|wednesday wed|thursday thu thur thurs|friday fri|saturday sat|"
        "sunday sun".split("|")
    )
    for name in names.split()
}
_NUMBERS = {
    word: number
    for number, words in enumerate(
        "|one a an|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve".split("|")
    )
    for word in words.split()
}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_DAY_WORDS = {
    "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0, "yesterday": -1,
    "last night": -1, "tomorrow": 1, "the day before yesterday": -2, "the day after tomorrow": 2,
}  # fmt: skip
_SIDES = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1}


def _any(names: dict[str, int]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


_MONTH = rf"(?P<month>{_any(_MONTHS)})\.?"
_LONG_MONTH = rf"(?P<month>{'|'.join(name for name in _MONTHS if len(name) > 3 or name == 'may')})"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:1[5-9]|20)\d\d)"
_CLOCK = r"(?P<hour>\d{1,2})(?::(?P<minute>[0-5]\d))?\s*(?P<half>[ap]\.?m\b\.?)"
_COUNT = rf"(?P<count>\d{{1,3}}|{_any(_NUMBERS)})"
_SIDE = rf"(?P<side>{_any(_SIDES)})"
_DASH = r"(?:\s*[-/,]\s*|\s+)"


def find_dates(text: str, reference_ms: int | None, zone: str) -> tuple[DatedSpan, ...]:
    """In order and without overlaps; `zone` is an IANA name, in which naive times are read.

    Raises `ZoneInfoNotFoundError` for an unknown zone.
    """
    calendar = Calendar(ZoneInfo(zone))
    signs = _signs_of(text)
    if not signs:
        return ()
    today = None if reference_ms is None else calendar.day_of(reference_ms)
    spans: list[DatedSpan] = []
    for start, end, (interval, precision) in _all(text, signs, calendar, today):
        if all(end <= known.start or start >= known.end for known in spans):
            is_future = reference_ms is not None and interval.start_ms > reference_ms
            spans.append(DatedSpan(start, end, interval, precision, is_future))
    return tuple(sorted(spans, key=lambda span: span.start))


def _signs_of(text: str) -> set[str]:
    """Which kinds of words and numbers occur: a look that spares most texts nearly every rule."""
    seen = {_SIGNS[word] for word in set(_WORD.findall(text.casefold())).intersection(_SIGNS)}
    if _DIGIT.search(text):
        seen.add("digit")
        if _FOUR_DIGITS.search(text):
            seen.add("year")
    return seen


def _all(
    text: str, signs: set[str], calendar: Calendar, today: date | None
) -> Iterator[tuple[int, int, tuple[Interval, Precision]]]:
    for needs, pattern, resolve in _RULES:
        if not needs <= signs:
            continue
        for match in pattern.finditer(text):
            try:
                found = resolve(_Reading(match, calendar, today))
            except (ValueError, OverflowError):  # no such day, or outside the calendar
                continue
            if found is not None:
                yield match.start(), match.end(), found


def _iso_instant(at: _Reading) -> _Found:
    offset = at.match.group("offset")
    zone = None
    if offset:
        sign = -1 if offset[0] == "-" else 1
        digits = offset[1:].replace(":", "") if offset.upper() != "Z" else "0000"
        zone = timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))
    day = date(*(int(at.match.group(name)) for name in ("year", "month", "day")))
    moment = at.calendar.minute(day, int(at.match.group("hour")), int(at.match.group("minute")), zone)
    return moment, Precision.INSTANT


def _numeric_day(at: _Reading) -> _Found:
    day = date(*(int(at.match.group(name)) for name in ("year", "month", "day")))
    return at.calendar.days(day), Precision.DAY


def _slashed_day(at: _Reading) -> _Found:
    first, second, year = (int(at.match.group(name)) for name in ("first", "second", "year"))
    if first <= 12 and second <= 12 and first != second:
        return None
    day, month = (first, second) if first > 12 else (second, first)
    return at.calendar.days(date(year, month, day)), Precision.DAY


def _named_day(at: _Reading) -> _Found:
    month = _MONTHS[at.match.group("month").lower()]
    number, year = int(at.match.group("day")), at.number("year")
    if year is None:
        if at.today is None:
            return None
        years = (at.today.year + shift for shift in (-1, 0, 1) if _exists(at.today.year + shift, month, number))
        today = at.today
        year = min(years, key=lambda each: abs(date(each, month, number) - today))
    day = date(year, month, number)
    if at.match.groupdict().get("hour") is None:
        return at.calendar.days(day), Precision.DAY
    return at.calendar.minute(day, *_clock(at)), Precision.INSTANT


def _clock(at: _Reading) -> tuple[int, int]:
    hour, minute = int(at.match.group("hour")), at.number("minute") or 0
    if not 1 <= hour <= 12:
        raise ValueError("no hour of a twelve-hour clock")
    return hour % 12 + (12 if at.match.group("half").lower().startswith("p") else 0), minute


def _month_of_year(at: _Reading) -> _Found:
    name = at.match.group("month").lower()
    month = _MONTHS[name] if name in _MONTHS else int(name)
    return at.calendar.month(int(at.match.group("year")), month), Precision.MONTH


def _bare_month(at: _Reading) -> _Found:
    if at.today is None:
        return None
    month = _MONTHS[at.match.group("month").lower()]
    side = at.match.groupdict().get("side")
    if side is None:  # the one whose distance in months is smallest
        shift = (month - at.today.month + 6) % 12 - 6
    elif _SIDES[side.lower()] < 0:
        shift = -((at.today.month - month - 1) % 12 + 1)
    elif _SIDES[side.lower()] > 0:
        shift = (month - at.today.month - 1) % 12 + 1
    else:
        shift = month - at.today.month
    return at.calendar.month(*shifted(at.today.year, at.today.month, shift)), Precision.MONTH


def _season(at: _Reading) -> _Found:
    first = _SEASONS[at.match.group("season").lower()]
    year, side = at.number("year"), at.match.group("side")
    if year is None:
        if at.today is None:
            return None
        year = at.today.year + _SIDES[side.lower()] if side else at.today.year
    return at.calendar.months(year, first, 3), Precision.FUZZY


def _year_alone(at: _Reading) -> _Found:
    return at.calendar.year(int(at.match.group("year"))), Precision.YEAR


def _decade(at: _Reading) -> _Found:
    return at.calendar.months(int(at.match.group("year")), 1, 120), Precision.FUZZY


def _day_word(at: _Reading) -> _Found:
    if at.today is None:
        return None
    shift = _DAY_WORDS[re.sub(r"\s+", " ", at.match.group().lower())]
    return at.calendar.days(at.today + timedelta(days=shift)), Precision.DAY


def _weekday(at: _Reading) -> _Found:
    """ "Last Friday" is before today, "next" after it, "this" in this week; a bare one is the nearest past."""
    if at.today is None:
        return None
    ahead = (_WEEKDAYS[at.match.group("weekday").lower()] - at.today.weekday()) % 7
    side = at.match.group("side")
    if side is None or _SIDES[side.lower()] < 0:
        shift = ahead - 7
    elif _SIDES[side.lower()] > 0:
        shift = ahead or 7
    else:
        shift = _WEEKDAYS[at.match.group("weekday").lower()] - at.today.weekday()
    precision = Precision.FUZZY if side is None else Precision.DAY
    return at.calendar.days(at.today + timedelta(days=shift)), precision


def _neighbour(at: _Reading) -> _Found:
    if at.today is None:
        return None
    return _around(at, at.match.group("unit").lower(), _SIDES[at.match.group("side").lower()])


def _distance(at: _Reading) -> _Found:
    count = at.number("count")
    if at.today is None or count is None:
        return None
    return _around(at, at.match.group("unit").lower(), -count if at.match.group("ago") else count)


def _vague_distance(at: _Reading) -> _Found:
    """ "A few days ago": two to seven units back, or ahead."""
    if at.today is None:
        return None
    days = {"day": 1, "week": 7, "month": 30, "year": 365}[at.match.group("unit").lower()]
    first = -7 * days if at.match.group("ago") else 2 * days
    return at.calendar.days(at.today + timedelta(days=first), 5 * days + 1), Precision.FUZZY


def _around(at: _Reading, unit: str, count: int) -> _Found:
    assert at.today is not None
    today, calendar = at.today, at.calendar
    if unit == "day":
        return calendar.days(today + timedelta(days=count)), Precision.DAY
    if unit == "week":
        return calendar.week(today + timedelta(weeks=count)), Precision.FUZZY
    if unit == "weekend":
        saturday = today + timedelta(days=5 - today.weekday(), weeks=count)
        return calendar.days(saturday, 2), Precision.FUZZY
    if unit == "month":
        return calendar.month(*shifted(today.year, today.month, count)), Precision.MONTH
    return calendar.year(today.year + count), Precision.YEAR


def _exists(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _rule(needs: str, pattern: str, resolve: Callable[[_Reading], _Found]) -> _Rule:
    """`needs` are signs without any of which the pattern cannot match."""
    return frozenset(needs.split()), re.compile(rf"(?<![\w-]){pattern}(?![\w-])", re.IGNORECASE), resolve


_ISO_DAY = r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
_UNITS = r"(?P<unit>day|weekend|week|month|year)"

_SIGNS = {
    **dict.fromkeys(_MONTHS, "month"), **dict.fromkeys(_WEEKDAYS, "weekday"),
    **dict.fromkeys(_SEASONS, "season"), **dict.fromkeys(_SIDES, "side"),
    **dict.fromkeys("today tonight yesterday tomorrow morning afternoon evening night".split(), "day"),
    **dict.fromkeys("day days weekend week weeks month months year years".split(), "unit"),
    **dict.fromkeys("few couple several".split(), "few"),
    **dict.fromkeys("ago earlier".split(), "ago"),
}  # fmt: skip
_WORD, _DIGIT, _FOUR_DIGITS = re.compile("[a-z]+"), re.compile(r"\d"), re.compile(r"\d{4}")

# In order: whoever matches first owns its characters.
_RULES: tuple[_Rule, ...] = (
    _rule(
        "year",
        _ISO_DAY + r"[T ](?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::\d\d(?:\.\d+)?)?"
        r"\s?(?P<offset>Z|[+-]\d\d:?\d\d)?",
        _iso_instant,
    ),
    _rule("year", _ISO_DAY, _numeric_day),
    _rule("year", r"(?P<year>\d{4})[/.](?P<month>\d\d?)[/.](?P<day>\d\d?)", _numeric_day),
    _rule("year", r"(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{4})", _numeric_day),
    (frozenset({"year"}),
     re.compile(r"(?P<year>\d{4})\s?[年년]\s?(?P<month>\d\d?)\s?[月월]\s?(?P<day>\d\d?)[日일]"), _numeric_day),
    _rule("year", r"(?P<first>\d\d?)/(?P<second>\d\d?)/(?P<year>\d{4})", _slashed_day),
    _rule("month digit", rf"{_CLOCK},?\s+(?:on\s+)?{_DAY}{_DASH}(?:of\s+)?{_MONTH}(?:{_DASH}{_YEAR})?",
          _named_day),
    _rule("month digit", rf"{_CLOCK},?\s+(?:on\s+)?{_MONTH}{_DASH}{_DAY}(?:{_DASH}{_YEAR})?", _named_day),
    _rule("month digit", rf"{_DAY}{_DASH}(?:of\s+)?{_MONTH}(?:{_DASH}{_YEAR})?,?\s+(?:at\s+)?{_CLOCK}",
          _named_day),
    _rule("month digit", rf"{_MONTH}{_DASH}{_DAY}(?:{_DASH}{_YEAR})?,?\s+(?:at\s+)?{_CLOCK}", _named_day),
    _rule("month digit", rf"(?:the\s+)?{_DAY}{_DASH}(?:of\s+)?{_MONTH}(?:{_DASH}{_YEAR})?", _named_day),
    _rule("month digit", rf"{_MONTH}{_DASH}{_DAY}(?:{_DASH}{_YEAR})?", _named_day),
    _rule("month year", rf"{_MONTH}(?:,?\s+(?:of\s+)?|-){_YEAR}", _month_of_year),
    _rule("year", r"(?P<year>(?:1[5-9]|20)\d\d)-(?P<month>0[1-9]|1[0-2])", _month_of_year),
    _rule("season year", rf"(?:in\s+)?(?:the\s+)?(?:(?P<side>last|this|next)\s+)?(?P<season>{_any(_SEASONS)})"
          rf"\s+(?:of\s+)?{_YEAR}", _season),
    _rule("season", rf"(?:(?P<side>last|this|next)\s+)(?P<season>{_any(_SEASONS)})(?P<year>(?!))?", _season),
    _rule("day", _any(_DAY_WORDS).replace(" ", r"\s+"), _day_word),
    _rule("few ago", r"(?:a\s+)?(?:few|couple\s+of|several)\s+(?P<unit>day|week|month|year)s\s+(?P<ago>ago)",
          _vague_distance),
    _rule("few unit",
          r"in\s+(?:a\s+)?(?:few|couple\s+of|several)\s+(?P<unit>day|week|month|year)s(?P<ago>(?!))?",
          _vague_distance),
    _rule("ago", rf"{_COUNT}\s+(?P<unit>day|week|month|year)s?\s+(?P<ago>ago|earlier)", _distance),
    _rule("unit", rf"in\s+{_COUNT}\s+(?P<unit>day|week|month|year)s?(?P<ago>(?!))?", _distance),
    _rule("side unit", rf"(?:the\s+)?{_SIDE}\s+{_UNITS}", _neighbour),
    _rule("side month", rf"{_SIDE}\s+{_LONG_MONTH}", _bare_month),
    _rule("weekday", rf"(?:(?P<side>last|this|next)\s+|on\s+)(?P<weekday>{_any(_WEEKDAYS)})", _weekday),
    _rule("month", rf"(?:in|during|since|until|by|of|from|before|after)\s+{_LONG_MONTH}", _bare_month),
    _rule("year", r"(?:in\s+)?the\s+(?P<year>(?:1[5-9]|20)\d0)s", _decade),
    _rule("year", rf"(?:in|during|since|until|by|of|from|before|after|year)\s+{_YEAR}", _year_alone),
)  # fmt: skip
