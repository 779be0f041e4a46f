import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from dormouse.errors import InvalidInputError
from dormouse_gateway.web.pagination import cursor_of, limit_of, position_of, refuse_unknown


@given(st.integers(), st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_cursor_leads_back_to_its_position(number: int, text: str) -> None:
    query = QueryParams({"cursor": cursor_of([number, text])})

    assert position_of(query, (int, str)) == [number, text]


@pytest.mark.parametrize("cursor", ["", "%%%", "bm90IGpzb24", cursor_of(["only one"]), cursor_of([1, 2]), "é"])
def test_a_foreign_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidInputError, match="cursor"):
        position_of(QueryParams({"cursor": cursor}), (int, str))


def test_without_a_cursor_the_list_begins() -> None:
    assert position_of(QueryParams(""), (str,)) is None


@pytest.mark.parametrize("limit", ["0", "-1", "51", "x", "", "١"])
def test_a_limit_outside_its_range_is_refused(limit: str) -> None:
    with pytest.raises(InvalidInputError):
        limit_of(QueryParams({"limit": limit}), default=10, most=50)


def test_unknown_parameters_are_refused_by_name() -> None:
    with pytest.raises(InvalidInputError, match="'ofset'"):
        refuse_unknown(QueryParams("ofset=1"), frozenset({"limit"}), frozenset())
    with pytest.raises(InvalidInputError, match="limit must be given once"):
        refuse_unknown(QueryParams("limit=1&limit=2"), frozenset({"limit"}), frozenset())
    refuse_unknown(QueryParams("stage=a&stage=b"), frozenset({"stage"}), frozenset({"stage"}))
