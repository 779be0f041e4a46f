from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.model.instant import has_date, local_time, zone_at
from dormouse.model.interval import BEGINNING_MS, END_MS


@pytest.mark.parametrize(
    ("instant_ms", "is_dated"),
    [(BEGINNING_MS - 1, False), (BEGINNING_MS, True), (0, True), (END_MS, True), (END_MS + 1, False)],
)
def test_the_years_1_to_9999_have_dates(instant_ms: int, is_dated: bool) -> None:
    assert has_date(instant_ms) is is_dated


def test_an_instant_is_shown_in_its_zone() -> None:
    assert local_time(0, zone_at(-90)).isoformat() == "1969-12-31T22:30:00-01:30"


@pytest.mark.parametrize("zone", [ZoneInfo("Asia/Tokyo"), ZoneInfo("America/New_York")])
def test_an_end_of_the_calendar_is_shown_in_utc_where_the_zone_has_no_day_for_it(zone: ZoneInfo) -> None:
    first, last = local_time(BEGINNING_MS, zone), local_time(END_MS, zone)

    assert (first.year, last.year) == (1, 9999)
    assert UTC in {first.tzinfo, last.tzinfo}


@given(st.integers(-(2**63), 2**63 - 1), st.none() | st.integers(-(2**31), 2**31))
def test_no_stored_number_is_too_much_to_be_shown(instant_ms: int, offset: int | None) -> None:
    shown = local_time(instant_ms, zone_at(offset))

    assert abs(shown.utcoffset() or timedelta()) < timedelta(days=1)
