import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.errors import InvalidInputError
from dormouse.model.interval import BEGINNING_MS, END_MS
from dormouse_gateway.web.instants import instant_of, iso


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-01-05T12:00:00Z", (1_767_614_400_000, 0)),
        ("2026-01-05T14:00:00.250+02:00", (1_767_614_400_250, 120)),
        ("1969-12-31T23:59:59.999Z", (-1, 0)),
        ("9999-12-31T23:59:59.999Z", (END_MS, 0)),
        ("0001-01-01T00:00:00Z", (BEGINNING_MS, 0)),
        ("2026-01-05T12:00:00-23:59:59", (1_767_700_799_000, -1439)),
    ],
)
def test_the_callers_offset_is_kept(text: str, instant: tuple[int, int]) -> None:
    assert instant_of(text, "occurred_at") == instant


@pytest.mark.parametrize("text", ["", "yesterday", "2026-01-05", "2026-01-05T12:00:00"])
def test_a_time_without_an_offset_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="occurred_at"):
        instant_of(text, "occurred_at")


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59.999-23:59", "0001-01-01T00:00:00+23:59"])
def test_a_time_outside_the_years_of_utc_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="occurred_at") as caught:
        instant_of(text, "occurred_at")

    assert caught.value.field == "occurred_at"


def test_what_was_stored_outside_of_them_is_shown_as_the_nearest() -> None:
    shown = [iso(BEGINNING_MS - 1), iso(END_MS + 1)]

    assert shown == ["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"]


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_what_is_shown_is_what_was_meant(instant_ms: int) -> None:
    assert instant_of(iso(instant_ms), "x") == (instant_ms, 0)
