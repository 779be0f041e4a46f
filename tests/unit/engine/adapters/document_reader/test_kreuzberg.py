import pytest

from dormouse.adapters.document_reader.kreuzberg import _title


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("untitled", ""),
        ("(anonymous)", ""),
        ("Microsoft Word - Plan.docx", "Plan.docx"),
        (" Annual\n report ", "Annual report"),
    ],
)
def test_a_title_that_a_program_made_up_is_none(said: str, title: str) -> None:
    assert _title(said) == title
