from typing import Any

import pytest

from dormouse.cli.items import line

AN_ITEM: dict[str, Any] = {
    "id": "i1",
    "name": "a.txt",
    "updatedAt": "2026-11-30T19:49:21.622Z",
    "dataSize": 1200,
    "externalId": None,
    "revision": 1,
    "isSearchable": True,
    "isStaged": False,
    "isSuppressed": False,
}


def test_an_item_is_shown_with_its_time_and_size() -> None:
    assert line(AN_ITEM) == "i1  2026-11-30T19:49:21Z  a.txt  1,200 bytes"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"revision": 3}, "version 3"),
        ({"isSuppressed": True}, "suppressed"),
        ({"isSearchable": False}, "not searchable yet"),
        ({"isSearchable": False, "isStaged": True}, "added only"),
    ],
)
def test_what_is_unusual_about_an_item_is_said(fields: dict[str, object], told: str) -> None:
    assert line({**AN_ITEM, **fields}) == f"{line(AN_ITEM)}  {told}"


def test_an_id_of_ones_own_is_shown_where_it_is_not_the_name() -> None:
    assert "  a.txt  7  " in line({**AN_ITEM, "externalId": "7"})
    assert line({**AN_ITEM, "externalId": "a.txt"}) == line(AN_ITEM)
