import pytest

from dormouse.errors import InvalidInputError
from dormouse_gateway.contracts.graph.rest.submission import file_name, labels_of, metadata_of


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


@pytest.mark.parametrize(
    ("given", "labels"),
    [("", []), ("a", ["a"]), ("a, b", ["a", "b"]), ('["a", null, "b,c"]', ["a", "", "b,c"])],
)
def test_labels_come_as_an_array_or_with_commas(given: str, labels: list[str]) -> None:
    assert labels_of(given) == labels


@pytest.mark.parametrize("given", ["[1]", '["a"', '[["a"]]'])
def test_labels_are_texts(given: str) -> None:
    with pytest.raises(InvalidInputError, match="labels"):
        labels_of(given)


def test_metadata_is_an_object_for_each_item() -> None:
    assert metadata_of('[{"s": 1}, null]') == ['{"s": 1}', ""]


@pytest.mark.parametrize("given", ["{}", "[1]", "[", "x"])
def test_other_metadata_is_refused(given: str) -> None:
    with pytest.raises(InvalidInputError, match="external_metadata"):
        metadata_of(given)
