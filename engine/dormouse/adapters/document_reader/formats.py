"""Which format a document has: by its bytes where they say so, else by its name. Pure."""

from pathlib import PurePosixPath

_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"
MIME_BY_SUFFIX = {
    ".pdf": "application/pdf",
    ".docx": f"{_OFFICE}.wordprocessingml.document",
    ".pptx": f"{_OFFICE}.presentationml.presentation",
    ".xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    ".doc": "application/msword",
    ".ppt": "application/vnd.ms-powerpoint",
    ".xls": "application/vnd.ms-excel",
    ".odt": f"{_OPEN}.text",
    ".ods": f"{_OPEN}.spreadsheet",
    ".rtf": "application/rtf",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".msg": "application/vnd.ms-outlook",
    ".epub": "application/epub+zip",
    ".fb2": "application/x-fictionbook+xml",
    ".ipynb": "application/x-ipynb+json",
}
_PDF = b"%PDF-"
_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_RTF = b"{\\rtf"
_PARTS = (  # a zip names its parts; the first that is found tells what it is
    (b"word/document.xml", ".docx"),
    (b"ppt/presentation.xml", ".pptx"),
    (b"xl/workbook.xml", ".xlsx"),
    (b"mimetypeapplication/epub+zip", ".epub"),
    (b"mimetypeapplication/vnd.oasis.opendocument.text", ".odt"),
    (b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet", ".ods"),
)
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")


def mime_of(content: bytes, filename: str) -> str | None:
    """None if it is none of the formats that are read."""
    suffix = PurePosixPath(filename.replace("\\", "/")).suffix.lower()
    if content.startswith(_PDF):
        suffix = ".pdf"
    elif content.startswith(_RTF):
        suffix = ".rtf"
    elif content.startswith(_ZIP):
        suffix = next((found for part, found in _PARTS if part in content), suffix)
    return MIME_BY_SUFFIX.get(suffix)


def is_encrypted_office(content: bytes) -> bool:
    """Office hides a document with a password inside a container of the old kind."""
    return content.startswith(_OLE) and _ENCRYPTED_PACKAGE in content
