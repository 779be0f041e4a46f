import codecs
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.errors import UnreadableDocumentError
from dormouse.ingest.decode import decode

RUSSIAN = "Привет, как дела? Сегодня хорошая погода, и мы пойдём гулять в парк. " * 3
GERMAN = "Die Größe der Straße ist überall gleich, sagte der Müller später über das Café. " * 3
JAPANESE = "今日はとても天気がいいので、公園に散歩に行きましょう。昨日は友達と映画を見ました。"


@pytest.mark.parametrize(
    "body",
    [
        "Größe".encode(),
        codecs.BOM_UTF8 + "Größe".encode(),
        "Größe".encode("utf-16"),
        codecs.BOM_UTF16_BE + "Größe".encode("utf-16-be"),
        "Größe".encode("utf-32"),
    ],
)
def test_unicode_is_read_with_and_without_a_mark(body: bytes) -> None:
    assert decode(body) == "Größe"


@pytest.mark.parametrize(
    ("text", "charset"),
    [(RUSSIAN, "cp1251"), (GERMAN, "cp1252"), (JAPANESE, "shift_jis"), (JAPANESE, "euc_jp")],
)
def test_a_legacy_charset_that_convinces_is_read(text: str, charset: str) -> None:
    assert decode(text.encode(charset)) == text


@pytest.mark.parametrize(
    "body",
    [
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        random.Random(7).randbytes(4000),
        "Größe".encode("utf-16-le"),  # no mark: half of it is NUL
        b"a\0b",
        codecs.BOM_UTF16_LE + b"\x00\xd8a",  # an unpaired surrogate, then half a character
        bytes(range(1, 9)) * 50,
    ],
)
def test_what_is_no_text_is_refused(body: bytes) -> None:
    with pytest.raises(UnreadableDocumentError) as caught:
        decode(body)

    assert caught.value.field == "content"


def test_every_line_end_becomes_one() -> None:
    assert decode(b"a\r\nb\rc\n") == "a\nb\nc\n"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"])))
def test_utf_8_is_never_taken_for_something_else(text: str) -> None:
    assert decode(text.encode()).removeprefix("\ufeff") == text.removeprefix("\ufeff")
