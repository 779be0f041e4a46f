"""Instants at the edge: ISO 8601 with an offset in, UTC out. Source: architecture §8."""

from datetime import UTC, datetime, timedelta

from dormouse.errors import InvalidInputError
from dormouse.model.instant import has_date, local_time

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant_of(text: str, field: str) -> tuple[int, int]:
    """Milliseconds since 1970 and the offset the caller used, in minutes; a naive time is refused."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as exc:
        raise _refusal(field) from exc
    offset = moment.utcoffset()
    if offset is None:
        raise _refusal(field)
    instant_ms = (moment - _EPOCH) // timedelta(milliseconds=1)
    if not has_date(instant_ms):
        raise InvalidInputError(f"{field} must be within the years 1 to 9999, in UTC", field=field)
    return instant_ms, int(offset / timedelta(minutes=1))


def iso(instant_ms: int) -> str:
    """An instant that no calendar shows is shown as the nearest one that does."""
    return local_time(instant_ms).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def iso_or_none(instant_ms: int | None) -> str | None:
    return None if instant_ms is None else iso(instant_ms)


def _refusal(field: str) -> InvalidInputError:
    return InvalidInputError(
        f"{field} must be an ISO 8601 time with an offset, such as Z or +02:00", field=field
    )
