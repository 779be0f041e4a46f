import pytest

from dormouse.rebuild.request import following


@pytest.mark.parametrize(
    ("name", "then"), [("memories", "memories-2"), ("memories-2", "memories-3"), ("a-b", "a-b-2")]
)
def test_no_collection_takes_the_name_of_the_one_before_it(name: str, then: str) -> None:
    assert following(name) == then
