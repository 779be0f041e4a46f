"""One written time to one instant, only if it can be read in one way: ISO, epoch, or a date in words.

Naive times are read in the content's zone. `05/08/23` has two readings, and none here unless dates around it
tell which is meant.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import pairwise
from typing import Literal
from zoneinfo import ZoneInfo

from dormouse.errors import InvalidInputError
from dormouse.model.instant import has_date
from dormouse.model.passage import Precision

MAX_WRITTEN_CHARACTERS = 60
DayOrder = Literal["day_first", "month_first"]

_MONTH_NAMES = "january february march april may june july august september october november december"
_MONTHS = {key: number for number, name in enumerate(_MONTH_NAMES.split(), 1) for key in (name, name[:3])} | {
    "sept": 9
}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<!\d){_YEAR}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})(?!\d)",
        rf"(?<!\d){_YEAR}年\s?(?P<month>\d{{1,2}})月\s?(?P<day>\d{{1,2}})日",
        rf"\b{_DAY}[ -]+(?:of )?{_MONTH}[ ,-]+{_YEAR}\b",
        rf"\b{_MONTH}[ -]+{_DAY}[ ,-]+{_YEAR}\b",
        rf"\b{_MONTH}[ ,-]+{_YEAR}\b",
        rf"(?<!\d){_YEAR}-(?P<month>\d{{2}})(?![\d-])",
    )
)
_SLASHED = re.compile(r"(?<!\d)(\d{1,2})[/.](\d{1,2})[/.](\d{4}|\d{2})(?!\d)")
_CLOCK = re.compile(
    r"(?<!\d)t?(?P<hour>\d{1,2})(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?)?"
    r"\s*(?P<half>[ap]\.?m\b\.?)?(?=\D|$)"
)
_ZONE = re.compile(r"\s*(?:(?P<utc>z|utc|gmt)|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d))\b")
_WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_FILLER = re.compile(rf"\b(?:on|at|{_WEEKDAY})\b|[\s,()\[\]·|]+")


@dataclass(frozen=True, slots=True)
class Timestamp:
    """`written` is what the content says; a number is written out as an ISO time."""

    written: str
    instant_ms: int
    offset_minutes: int
    precision: Precision


def zone_named(name: str) -> ZoneInfo:
    """Raises `InvalidInputError` if the IANA database has no such zone."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InvalidInputError("zone must be an IANA time zone name", field="zone") from None


def read_timestamp(value: object, zone: ZoneInfo, order: DayOrder | None = None) -> Timestamp | None:
    """None unless the whole of `value` is one time that can be read in one way; `order` tells which where a day
    and a month could be either."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _from_number(float(value), zone)
    if not isinstance(value, str) or len(value) > MAX_WRITTEN_CHARACTERS:
        return None
    written = value.strip()
    if re.fullmatch(r"\d{9,16}(?:\.\d+)?", written):
        return _from_number(float(written), zone)
    return _from_words(written, zone, order)


def order_of(dates: Iterable[str]) -> DayOrder | None:
    """What `05/08/23` means among dates that follow each other: one of them has a day that is no month, or time
    passes in one reading only. None where that does not tell."""
    found = [tuple(map(int, each.groups())) for date in dates if (each := _SLASHED.search(date))]
    day_first = any(first > 12 for first, _, _ in found)
    month_first = any(second > 12 for _, second, _ in found)
    if not (day_first or month_first):
        day_first = _passes([(year, second, first) for first, second, year in found])
        month_first = _passes([(year, first, second) for first, second, year in found])
    if day_first == month_first:
        return None
    return "day_first" if day_first else "month_first"


def _passes(days: Sequence[tuple[int, int, int]]) -> bool:
    return len(days) > 1 and all(one <= other for one, other in pairwise(days))


def _from_number(number: float, zone: ZoneInfo) -> Timestamp | None:
    """Seconds or milliseconds since 1970; what is smaller than 1973 in seconds is a counter, not a time."""
    if not 1e8 <= number < 1e14:
        return None
    instant_ms = int(number * 1000) if number < 1e11 else int(number)
    local = datetime.fromtimestamp(instant_ms / 1000, UTC).astimezone(zone)
    return Timestamp(local.isoformat(" ", "minutes"), instant_ms, _offset_of(local), Precision.INSTANT)


def _from_words(written: str, zone: ZoneInfo, order: DayOrder | None) -> Timestamp | None:
    rest = written.lower()
    date, rest = _take_date(rest, order)
    if date is None:
        return None
    clock = _CLOCK.search(rest)
    moment, tz = date[0], zone
    precision = date[1]
    if clock and clock["hour"] and precision is Precision.DAY and (clock["minute"] or clock["half"]):
        timed = _at_clock(moment, clock)
        if timed is None:
            return None
        rest = rest[: clock.start()] + rest[clock.end() :]
        moment, precision = timed, Precision.INSTANT
        offset, rest = _take_offset(rest, clock.start())
        return _stamp(written, moment, offset or tz, precision) if not _FILLER.sub("", rest) else None
    return _stamp(written, moment, tz, precision) if not _FILLER.sub("", rest) else None


def _take_date(text: str, order: DayOrder | None) -> tuple[tuple[datetime, Precision] | None, str]:
    for pattern in _DATES:
        match = pattern.search(text)
        if match:
            parts = match.groupdict()
            month = _MONTHS.get(parts["month"]) or int(parts["month"])
            day, precision = (int(parts["day"]), Precision.DAY) if parts.get("day") else (1, Precision.MONTH)
            return _date(int(parts["year"]), month, day, precision), _without(text, match)
    match = _SLASHED.search(text)
    if match:
        first, second, year = (int(group) for group in match.groups())
        is_day_first = first > 12 or (second <= 12 and order == "day_first")
        day, month = (first, second) if is_day_first else (second, first)
        if max(first, second) > 12 or first == second or order is not None:
            return _date(year if year > 99 else 2000 + year, month, day, Precision.DAY), _without(text, match)
    return None, text


def _without(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]} {text[match.end() :]}"


def _date(year: int, month: int, day: int, precision: Precision) -> tuple[datetime, Precision] | None:
    try:
        return datetime(year, month, day), precision  # noqa: DTZ001  the zone is added by _stamp
    except ValueError:
        return None


def _at_clock(day: datetime, clock: re.Match[str]) -> datetime | None:
    hour = int(clock["hour"])
    half = (clock["half"] or "")[:1]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    fraction = (clock["fraction"] or "0").ljust(6, "0")[:6]
    try:
        return day.replace(
            hour=hour,
            minute=int(clock["minute"] or 0),
            second=int(clock["second"] or 0),
            microsecond=int(fraction),
        )
    except ValueError:
        return None


def _take_offset(text: str, at: int) -> tuple[tzinfo | None, str]:
    match = _ZONE.match(text, at)
    if not match:
        return None, text
    rest = text[: match.start()] + text[match.end() :]
    if match["utc"]:
        return UTC, rest
    offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"]))
    if offset >= timedelta(days=1):
        return None, text
    return timezone(-offset if match["sign"] == "-" else offset), rest


def _stamp(written: str, moment: datetime, tz: tzinfo, precision: Precision) -> Timestamp | None:
    try:
        local = moment.replace(tzinfo=tz)
        instant_ms = round(local.timestamp() * 1000)
    except (OverflowError, ValueError):
        return None
    if not has_date(instant_ms):
        return None
    return Timestamp(written, instant_ms, _offset_of(local), precision)


def _offset_of(local: datetime) -> int:
    offset = local.utcoffset()
    return int(offset.total_seconds() // 60) if offset is not None else 0
