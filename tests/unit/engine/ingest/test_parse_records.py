import pytest

from dormouse.errors import UnreadableDocumentError
from dormouse.ingest.parse_records import load_json, load_json_lines, parse_code, parse_json, parse_table
from dormouse.ingest.parsed import Section


def test_code_is_cut_at_definitions_with_what_stands_right_above_them() -> None:
    code = (
        "import os\n\n# Says it.\n@cached\ndef say(word):\n    return word\n\n"
        "class Ada:\n    def run(self): ...\n"
    )

    assert parse_code(code, "a.py").sections == (
        Section(("a.py",), "import os", keeps_lines=True),
        Section(
            ("a.py", "def say(word)"), "# Says it.\n@cached\ndef say(word):\n    return word", keeps_lines=True
        ),
        Section(("a.py", "class Ada"), "class Ada:\n    def run(self): ...", keeps_lines=True),
    )


def test_a_table_is_headed_by_its_columns() -> None:
    [section] = parse_table("date,region\n2024-01-01,EMEA\n", "sales.csv", ",").sections

    assert section == Section(("sales.csv", "date, region"), "2024-01-01,EMEA", keeps_lines=True)


def test_a_table_without_a_header_keeps_its_first_row() -> None:
    [section] = parse_table("1,2\n3,4\n", "n.csv", ",").sections

    assert section == Section(("n.csv",), "1,2\n3,4", keeps_lines=True)


def test_json_becomes_a_line_for_each_value() -> None:
    [section] = parse_json([{"name": "Zoë", "tags": ["a", "b"]}, {"x": {"y": None}}], "a.json").sections

    assert section.text == "name: Zoë\ntags: a\ntags: b\n\nx.y: null"


@pytest.mark.parametrize("text", ["[" * 300 + "]" * 300, "[" * 200_000])
def test_deep_json_is_refused_and_never_overflows(text: str) -> None:
    with pytest.raises((UnreadableDocumentError, ValueError)):
        load_json(text)


def test_json_lines_may_have_blank_ones() -> None:
    assert load_json_lines('{"a": 1}\n\n[2]\n') == [{"a": 1}, [2]]
