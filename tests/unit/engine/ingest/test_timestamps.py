from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.errors import InvalidInputError
from dormouse.ingest.timestamps import read_timestamp, zone_named
from dormouse.model.passage import Precision

ZULU = zone_named("UTC")


def ms(*parts: int) -> int:
    return round(datetime(*parts, tzinfo=UTC).timestamp() * 1000)  # type: ignore[arg-type,misc]  # only ints


@pytest.mark.parametrize(
    ("written", "instant_ms", "precision"),
    [
        ("1:56 pm on 8 May, 2023", ms(2023, 5, 8, 13, 56), Precision.INSTANT),
        ("March-15-2024", ms(2024, 3, 15), Precision.DAY),
        ("2023-05-08T13:56:07.250Z", ms(2023, 5, 8, 13, 56, 7) + 250, Precision.INSTANT),
        ("2023-05-08 13:56", ms(2023, 5, 8, 13, 56), Precision.INSTANT),
        ("2023/05/20 (Sat) 02:21", ms(2023, 5, 20, 2, 21), Precision.INSTANT),
        ("Mon, 8 May 2023 13:56:00 +0200", ms(2023, 5, 8, 11, 56), Precision.INSTANT),
        ("12 am on May 8th, 2023", ms(2023, 5, 8), Precision.INSTANT),
        ("May 2023", ms(2023, 5, 1), Precision.MONTH),
        ("2023年5月8日 13:56", ms(2023, 5, 8, 13, 56), Precision.INSTANT),
        ("25/12/2023", ms(2023, 12, 25), Precision.DAY),
        ("1683554160", ms(2023, 5, 8, 13, 56), Precision.INSTANT),
    ],
)
def test_a_time_that_reads_one_way_is_read(written: str, instant_ms: int, precision: Precision) -> None:
    stamp = read_timestamp(written, ZULU)

    assert stamp is not None
    assert (stamp.instant_ms, stamp.precision) == (instant_ms, precision)


@pytest.mark.parametrize("number", [1683554160, 1683554160.0, 1683554160000])
def test_seconds_and_milliseconds_are_told_apart_and_written_out(number: float) -> None:
    stamp = read_timestamp(number, ZULU)

    assert stamp is not None
    assert (stamp.instant_ms, stamp.written) == (ms(2023, 5, 8, 13, 56), "2023-05-08 13:56+00:00")


@pytest.mark.parametrize(
    "value",
    ["05/08/23", "yesterday", "Chapter 12 of 2023", "31 February 2023", "13:99 on 8 May 2023", "", "8 May",
     12, True, None, float("nan"), 1e300, ["2023-05-08"], "2023-05-08 and so on", "9" * 300,
     "9999-12-31T23:59:59.999-23:59", "0001-01-01T00:00:00+23:59"],
)  # fmt: skip
def test_what_reads_two_ways_or_none_is_left_alone(value: object) -> None:
    assert read_timestamp(value, ZULU) is None


def test_naive_times_are_read_in_the_zone() -> None:
    stamp = read_timestamp("2023-07-01 12:00", zone_named("Asia/Tokyo"))

    assert stamp is not None
    assert (stamp.instant_ms, stamp.offset_minutes) == (ms(2023, 7, 1, 3), 540)


@pytest.mark.parametrize("name", ["Nowhere/Land", "", "../etc/passwd", "Europe", "\0"])
def test_an_unknown_zone_is_named_as_the_field(name: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        zone_named(name)

    assert caught.value.field == "zone"


@given(st.one_of(st.text(max_size=70), st.integers(), st.floats()))
def test_nothing_that_is_given_as_a_time_can_break_reading(value: object) -> None:
    read_timestamp(value, ZULU)
