"""What may be remembered. Source: architecture §8."""

import pytest

from dormouse.errors import InvalidInputError, TooLargeError
from dormouse.ingest.validate import check
from dormouse.model.document import CONTENT_LIMIT_BYTES, Content, ContentKind
from dormouse.model.interval import BEGINNING_MS, END_MS


@pytest.mark.parametrize(
    "content",
    [
        Content(body="你好，世界 🌍 مرحبا".encode()),
        Content(body=b"x" * CONTENT_LIMIT_BYTES),
        Content(body=b"x", occurred_ms=END_MS),
        Content(body=b"x", occurred_ms=BEGINNING_MS),
        Content(body=b"\x00\xff", kind=ContentKind.FILE, filename="a.bin"),
        Content(body=b"x", zone="Asia/Ho_Chi_Minh", external_id="7", filename="Ghi chú.txt"),
    ],
)
def test_whole_readable_content_is_taken(content: Content) -> None:
    check(content)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (Content(body=b""), "content"),
        (Content(body=" \n\u3000".encode()), "content"),
        (Content(body=b"a\x00b"), "content"),
        (Content(body="\ud800".encode(errors="surrogatepass")), "content"),
        (Content(body=b"\xff\xfe"), "content"),
        (Content(body=b"", kind=ContentKind.FILE, filename="a.txt"), "content"),
        (Content(body=b" ", kind=ContentKind.CHAT), "content"),
        (Content(body=b"x", external_id=" "), "external_id"),
        (Content(body=b"x", external_id="a\0b"), "external_id"),
        (Content(body=b"x", filename="\ud800"), "filename"),
        (Content(body=b"x", filename="n" * 1001), "filename"),
        (Content(body=b"x", zone="Mars/Olympus"), "zone"),
        (Content(body=b"x", zone="../etc/passwd"), "zone"),
        (Content(body=b"x", zone=""), "zone"),
        (Content(body=b"x", occurred_ms=END_MS + 1), "occurred_at"),
        (Content(body=b"x", occurred_ms=BEGINNING_MS - 1), "occurred_at"),
    ],
)
def test_what_breaks_a_rule_is_refused_by_field(content: Content, field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check(content)

    assert caught.value.field == field


def test_ten_mebibytes_are_the_limit() -> None:
    with pytest.raises(TooLargeError):
        check(Content(body=b"x" * (CONTENT_LIMIT_BYTES + 1)))
