"""Instants in UTC milliseconds that a calendar can show: those of the years 1 to 9999, in UTC.

What comes in is refused outside of them, and what was stored all the same is shown as the nearest one.
"""

from datetime import UTC, datetime, timedelta, timezone, tzinfo

from dormouse.model.interval import BEGINNING_MS, END_MS

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LARGEST_OFFSET_MINUTES = 24 * 60 - 1


def has_date(instant_ms: int) -> bool:
    return BEGINNING_MS <= instant_ms <= END_MS


def local_time(instant_ms: int, zone: tzinfo = UTC) -> datetime:
    """In the zone, or in UTC at the very ends, where the zone's own calendar has no such day."""
    moment = _EPOCH + timedelta(milliseconds=min(max(instant_ms, BEGINNING_MS), END_MS))
    try:
        return moment.astimezone(zone)
    except (OverflowError, ValueError):
        return moment


def zone_at(offset_minutes: int | None) -> timezone:
    """Less than a day from UTC, whatever the number says; UTC where it is not known."""
    minutes = min(max(offset_minutes or 0, -_LARGEST_OFFSET_MINUTES), _LARGEST_OFFSET_MINUTES)
    return timezone(timedelta(minutes=minutes))
