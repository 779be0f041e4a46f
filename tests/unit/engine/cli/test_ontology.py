from typing import Any

from dormouse.cli.ontology import line

A_ROW: dict[str, Any] = {
    "ontology_key": "cars",
    "filename": "cars.ttl",
    "size_bytes": 312,
    "uploaded_at": "2026-11-30T19:49:21.622Z",
    "description": None,
}


def test_an_ontology_is_shown_with_its_file_and_what_its_owner_said() -> None:
    assert line(A_ROW) == "cars  2026-11-30T19:49:21Z  cars.ttl  312 bytes"
    assert line({**A_ROW, "description": "what we drive"}) == f"{line(A_ROW)}  what we drive"
