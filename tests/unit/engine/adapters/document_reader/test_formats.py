import pytest
from kreuzberg import validate_mime_type

from dormouse.adapters.document_reader.formats import MIME_BY_SUFFIX, is_encrypted_office, mime_of


@pytest.mark.parametrize("mime", sorted(set(MIME_BY_SUFFIX.values())))
def test_the_library_knows_every_format(mime: str) -> None:
    assert validate_mime_type(mime)


@pytest.mark.parametrize(
    ("content", "filename", "suffix"),
    [
        (b"%PDF-1.7", "upload.txt", ".pdf"),
        (b"PK\x03\x04....word/document.xml", "a.zip", ".docx"),
        (b"{\\rtf1", "", ".rtf"),
        (b"<html>", "a.HTML", ".html"),
        (b"", "C:\\mail\\a.msg", ".msg"),
    ],
)
def test_bytes_outrank_the_name(content: bytes, filename: str, suffix: str) -> None:
    assert mime_of(content, filename) == MIME_BY_SUFFIX[suffix]


@pytest.mark.parametrize("filename", ["a.zip", "a.png", "a", "", "a.tar.gz"])
def test_archives_and_pictures_are_not_read(filename: str) -> None:
    assert mime_of(b"PK\x03\x04 something else", filename) is None


def test_an_encrypted_package_is_seen() -> None:
    container = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 64 + "EncryptedPackage".encode("utf-16-le")

    assert is_encrypted_office(container)
    assert not is_encrypted_office(container[:64])
