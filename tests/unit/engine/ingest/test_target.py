import pytest

from dormouse.errors import InvalidInputError
from dormouse.ingest.target import checked_name


def test_a_name_is_trimmed() -> None:
    assert checked_name("  notes ") == "notes"


@pytest.mark.parametrize(
    "name", ["", " ", "a,b", "a\nb", "a\ud800", "x" * 201, "6f0C1B8e-7d3a-5c2f-9a51-0d7f2b6c4e11"]
)
def test_what_could_not_be_named_again_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        checked_name(name)

    assert refused.value.field == "dataset"
