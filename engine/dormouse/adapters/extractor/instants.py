"""Times as a model writes them to intervals: a year, a month, a day or an instant of the zone. Pure."""

import re
from datetime import UTC, date, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dormouse.model.interval import BEGINNING_MS, END_MS, Interval
from dormouse.model.passage import Precision
from dormouse.text.calendar_days import Calendar

_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


def stretch_of(written: object, zone: str) -> tuple[Interval, Precision] | None:
    """None for anything that is no date of ours: a wrong date is worse than none."""
    if not isinstance(written, str) or not written.strip():
        return None
    text = written.strip()
    calendar = Calendar(_zone(zone))
    try:
        found = _DATE.fullmatch(text)
        stretch = _of_numbers(found, calendar) if found else _of_instant(text, calendar.zone)
    except (ValueError, OverflowError, OSError):
        return None
    is_known = stretch[0].start_ms > BEGINNING_MS and stretch[0].end_ms < END_MS
    return stretch if is_known else None


def _of_numbers(found: re.Match[str], calendar: Calendar) -> tuple[Interval, Precision]:
    year, month, day = (None if part is None else int(part) for part in found.groups())
    if year is not None and month is not None and day is not None:
        return calendar.days(date(year, month, day)), Precision.DAY
    if year is not None and month is not None:
        return calendar.month(year, month), Precision.MONTH
    return calendar.year(int(found[1])), Precision.YEAR


def _of_instant(text: str, zone: tzinfo) -> tuple[Interval, Precision]:
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=zone)
    start_ms = round(instant.timestamp() * 1000)
    return Interval(start_ms, start_ms + 60_000), Precision.INSTANT


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
