"""docs/compatibility.md says what the replay allows."""

from tests.contract.mcp.differences import DIFFERENCES, PAGE, in_page


def test_the_page_shows_the_table_as_it_is() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert page == in_page(page), "run python -m tests.contract.mcp.differences"


def test_no_call_and_no_probe_is_excused_twice() -> None:
    excused = [case for each in DIFFERENCES for case in (*each.answers, *each.probes)]

    assert len(excused) == len(set(excused))
