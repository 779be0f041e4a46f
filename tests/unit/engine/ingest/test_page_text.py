from hypothesis import given
from hypothesis import strategies as st

from dormouse.ingest.page_text import page_text


def test_blocks_are_lines_and_markup_is_gone() -> None:
    assert (
        page_text("<h1>Plan</h1><ul><li>two <b>tulips</b><li>one&amp;only</ul>") == "Plan\ntwo tulips\none&only"
    )


def test_what_a_reader_does_not_see_is_left_out() -> None:
    assert page_text("<head><title>x</title></head><script>alert(1)</script>seen<style>p{}</style>") == "seen"


@given(st.text(max_size=200))
def test_broken_markup_costs_at_most_itself(html: str) -> None:
    page_text(html)
