import pytest

from dormouse.errors import InvalidInputError
from dormouse_gateway.contracts.graph.rest.remember import file_name


@pytest.mark.parametrize(
    ("given", "name"),
    [("a.md", "a.md"), ("notes/b/c.md", "notes/b/c.md"), ("notes\\b.md", "notes/b.md"), ("./a.md", "a.md")],
)
def test_folders_in_a_name_are_kept(given: str, name: str) -> None:
    assert file_name(given) == name


@pytest.mark.parametrize(
    "given", ["", "/etc/passwd", "../a", "a/../../b", "a/..", "C:\\a", "a\nb", "a\0b", "x" * 1025]
)
def test_a_name_never_leads_out_of_its_folder(given: str) -> None:
    with pytest.raises(InvalidInputError, match="name"):
        file_name(given)
