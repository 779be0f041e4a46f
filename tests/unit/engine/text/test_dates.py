from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.model.passage import Precision
from dormouse.text.dates import find_dates


def ms(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


MONDAY = ms("2023-05-08T13:56")


@pytest.mark.parametrize(
    ("text", "start", "end", "precision"),
    [
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56", "2023-05-08T13:57", Precision.INSTANT),
        ("12:05 am on 8 May, 2023", "2023-05-08T00:05", "2023-05-08T00:06", Precision.INSTANT),
        ("2024-03-15T14:30:00+02:00", "2024-03-15T12:30", "2024-03-15T12:31", Precision.INSTANT),
        ("March-15-2024", "2024-03-15", "2024-03-16", Precision.DAY),
        ("8 May, 2023", "2023-05-08", "2023-05-09", Precision.DAY),
        ("the 3rd of July", "2023-07-03", "2023-07-04", Precision.DAY),
        ("2024-02-29", "2024-02-29", "2024-03-01", Precision.DAY),
        ("15.3.2024", "2024-03-15", "2024-03-16", Precision.DAY),
        ("03/15/2024", "2024-03-15", "2024-03-16", Precision.DAY),
        ("2024年3月15日", "2024-03-15", "2024-03-16", Precision.DAY),
        ("March 2024", "2024-03-01", "2024-04-01", Precision.MONTH),
        ("in June", "2023-06-01", "2023-07-01", Precision.MONTH),
        ("last June", "2022-06-01", "2022-07-01", Precision.MONTH),
        ("since 2019", "2019-01-01", "2020-01-01", Precision.YEAR),
        ("in the 1990s", "1990-01-01", "2000-01-01", Precision.FUZZY),
        ("yesterday", "2023-05-07", "2023-05-08", Precision.DAY),
        ("tomorrow", "2023-05-09", "2023-05-10", Precision.DAY),
        ("last week", "2023-05-01", "2023-05-08", Precision.FUZZY),
        ("next month", "2023-06-01", "2023-07-01", Precision.MONTH),
        ("two weeks ago", "2023-04-24", "2023-05-01", Precision.FUZZY),
        ("in 3 days", "2023-05-11", "2023-05-12", Precision.DAY),
        ("last Friday", "2023-05-05", "2023-05-06", Precision.DAY),
        ("next Monday", "2023-05-15", "2023-05-16", Precision.DAY),
        ("summer 2022", "2022-06-01", "2022-09-01", Precision.FUZZY),
    ],
)
def test_a_named_time_is_a_half_open_interval(text: str, start: str, end: str, precision: Precision) -> None:
    (found,) = find_dates(f"We met {text}.", MONDAY, "UTC")

    assert (found.interval.start_ms, found.interval.end_ms) == (ms(start), ms(end))
    assert found.precision is precision
    assert found.is_future == (ms(start) > MONDAY)


@pytest.mark.parametrize(
    "text",
    ["May I march on?", "2024-02-30", "03/04/2024", "version 1.2.2024-rc", "call 555-2024-03", "a second"],
)
def test_what_is_no_date_or_could_be_two_is_left_alone(text: str) -> None:
    assert find_dates(text, MONDAY, "UTC") == ()


def test_without_a_reference_only_whole_dates_are_read() -> None:
    found = find_dates("yesterday, in June, on 8 May, and on 8 May 2023", None, "UTC")

    assert [span.interval.start_ms for span in found] == [ms("2023-05-08")]


def test_days_begin_at_midnight_of_the_zone() -> None:
    (found,) = find_dates("2024-07-01", None, "Asia/Ho_Chi_Minh")

    assert found.interval.start_ms == ms("2024-06-30T17:00")


def test_a_day_on_which_clocks_change_is_as_long_as_it_is() -> None:
    (found,) = find_dates("2024-03-31", None, "Europe/Berlin")

    assert found.interval.end_ms - found.interval.start_ms == 23 * 3600 * 1000


def test_positions_name_the_words_that_say_it() -> None:
    text = "Seen on 8 May, 2023 and again last week"

    spans = find_dates(text, MONDAY, "UTC")

    assert [text[span.start : span.end] for span in spans] == ["8 May, 2023", "last week"]


@given(st.text(alphabet="0123456789-/.: TZMayjunelstwkdgo年月日,", max_size=60))
def test_any_text_gives_ordered_spans_that_do_not_overlap(text: str) -> None:
    spans = find_dates(text, MONDAY, "UTC")

    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
