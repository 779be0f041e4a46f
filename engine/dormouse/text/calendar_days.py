"""Half-open intervals of local days, weeks, months and years, in UTC milliseconds."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from dormouse.model.instant import local_time
from dormouse.model.interval import Interval


@dataclass(frozen=True, slots=True)
class Calendar:
    """Days as they begin and end in one zone: 23 or 25 hours long where the clocks change."""

    zone: tzinfo

    def day_of(self, instant_ms: int) -> date:
        return local_time(instant_ms, self.zone).date()

    def days(self, first: date, count: int = 1) -> Interval:
        return Interval(self._midnight(first), self._midnight(first + timedelta(days=count)))

    def week(self, day: date) -> Interval:
        """The ISO week, Monday first, that holds the day."""
        return self.days(day - timedelta(days=day.weekday()), 7)

    def month(self, year: int, month: int) -> Interval:
        after_year, after_month = shifted(year, month, 1)
        return Interval(self._midnight(date(year, month, 1)), self._midnight(date(after_year, after_month, 1)))

    def months(self, year: int, month: int, count: int) -> Interval:
        last_year, last_month = shifted(year, month, count - 1)
        return Interval(self.month(year, month).start_ms, self.month(last_year, last_month).end_ms)

    def year(self, year: int) -> Interval:
        return self.months(year, 1, 12)

    def minute(self, day: date, hour: int, minute: int, zone: tzinfo | None = None) -> Interval:
        start = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone or self.zone)
        start_ms = round(start.timestamp() * 1000)
        return Interval(start_ms, start_ms + 60_000)

    def _midnight(self, day: date) -> int:
        return round(datetime(day.year, day.month, day.day, tzinfo=self.zone).timestamp() * 1000)


def shifted(year: int, month: int, months: int) -> tuple[int, int]:
    """Year and month so many months later, or earlier."""
    index = year * 12 + month - 1 + months
    return index // 12, index % 12 + 1
