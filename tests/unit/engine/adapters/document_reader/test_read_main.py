import pytest

from dormouse.adapters.document_reader.read_main import reason_of


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("ParsingError: PDF is password-protected", "encrypted"),
        (
            "ParsingError: Security limit exceeded: File 'x' uncompressed size exceeds limit of 1 bytes",
            "expands",
        ),
        ("ValidationError: application/x-foo", "unsupported"),
        ("ParsingError: ZIP error: Could not find EOCD", "damaged"),
        ("", "damaged"),
    ],
)
def test_foreign_words_become_one_of_our_reasons(words: str, reason: str) -> None:
    assert reason_of(words) == reason
