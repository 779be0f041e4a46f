import pytest

from dormouse.cli.remember import how_far


@pytest.mark.parametrize(
    ("stage", "done", "passages", "told"),
    [
        ("accepted", 0, 0, "waits"),
        ("extracting", 0, 0, "is being read"),
        ("extracting", 0, 1800, "0 of 1,800 passages"),
        ("applying", 400, 1800, "400 of 1,800 passages"),
        ("applying", 0, 1, "0 of 1 passage"),
    ],
)
def test_a_file_under_way_is_told_by_its_passages_once_they_are_known(
    stage: str, done: int, passages: int, told: str
) -> None:
    assert how_far({"stage": stage, "counts": {"done": done, "passages": passages}}) == told
