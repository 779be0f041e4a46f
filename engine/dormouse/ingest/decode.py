"""Bytes to text: UTF-8, or what a byte order mark says, or a legacy charset that convinces; else refused."""

import codecs
import re

from charset_normalizer import CharsetMatch, from_bytes

from dormouse.errors import UnreadableDocumentError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: its mark begins with UTF-16's
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES = 64 * 1024  # detection costs milliseconds a kilobyte; a charset shows early
_MOST_CHAOS = 0.1
_LEAST_COHERENCE = 0.2
_MULTIBYTE = frozenset(
    """cp932 shift_jis shift_jis_2004 shift_jisx0213 euc_jp euc_jis_2004 euc_jisx0213 gb18030 gbk gb2312 big5
    big5hkscs cp950 cp949 euc_kr johab""".split()
)
_MOST_CONTROLS = 0.02  # terminal logs have some; binary data that happens to be ASCII has many
_CONTROLS = re.compile(r"[\x00-\x07\x0e-\x1a\x1c-\x1f]")


def decode(body: bytes) -> str:
    """Text with `\\n` as its only line end. Raises `UnreadableDocumentError` if it is not text."""
    text = _decoded(body)
    if "\0" in text:
        raise UnreadableDocumentError("content must not contain NUL characters", field="content")
    if len(_CONTROLS.findall(text)) > len(text) * _MOST_CONTROLS:
        raise _not_text()
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(body: bytes) -> str:
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return _strictly(body, encoding)
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        if b"\0" in body:
            raise _not_text() from None
        return _strictly(body, _charset(body))


def _strictly(body: bytes, encoding: str) -> str:
    try:
        return body.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        raise _not_text() from None


def _charset(body: bytes) -> str:
    matches = from_bytes(body[:_SAMPLE_BYTES])
    best = matches.best()
    if best is None or not _convinces(best, is_alone=len(matches) == 1):
        raise _not_text()
    return best.encoding


def _convinces(match: CharsetMatch, *, is_alone: bool) -> bool:
    """Most charsets decode anything: a language recognised in the result speaks for one, or that only one of
    the strict ones fits."""
    if match.chaos > _MOST_CHAOS:
        return False
    if match.encoding in _MULTIBYTE:
        return is_alone or match.coherence >= _LEAST_COHERENCE / 2
    return match.coherence >= _LEAST_COHERENCE


def _not_text() -> UnreadableDocumentError:
    return UnreadableDocumentError(
        "content is not text in UTF-8 or another recognisable encoding; send it as UTF-8", field="content"
    )
