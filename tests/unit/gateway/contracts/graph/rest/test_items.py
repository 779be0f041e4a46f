import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse_gateway.contracts.graph.rest.items import disposition_of, media_type_of


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a.txt", "attachment; filename*=UTF-8''a.txt"),
        ("notes/b c.md", "attachment; filename*=UTF-8''b%20c.md"),
        ("日本.txt", "attachment; filename*=UTF-8''%E6%97%A5%E6%9C%AC.txt"),
        ("", "attachment; filename*=UTF-8''item"),
    ],
)
def test_a_download_is_saved_under_the_last_part_of_its_name(name: str, shown: str) -> None:
    assert disposition_of(name) == shown


@given(st.text(st.characters(), max_size=60))
def test_no_name_can_leave_its_header(name: str) -> None:
    shown = disposition_of(name)

    assert shown.isascii()
    assert shown.isprintable()
    assert not set(shown.removeprefix("attachment; filename*=UTF-8''")) & set('"; \\')


def test_the_type_is_told_by_the_name_alone() -> None:
    assert [media_type_of(name) for name in ("a.md", "b.pdf", "text_12")] == [
        "text/markdown",
        "application/pdf",
        "text/plain",
    ]
