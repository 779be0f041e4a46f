"""Mail to turns: one message, or a mailbox of many, each with its sender, date, subject and thread.

A reply's copy of what it answers is dropped from a mailbox, where the original has its own place; a message
alone keeps it. Attachments that hold text follow their message under their own name. Pure.
Source: RFC 5322, RFC 2045; mailboxes are of the "mbox" kind (RFC 4155).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from email.utils import getaddresses, parsedate_to_datetime
from functools import partial
from pathlib import PurePosixPath
from typing import TypeVar
from zoneinfo import ZoneInfo

from dormouse.errors import UnreadableDocumentError
from dormouse.ingest.decode import decode
from dormouse.ingest.page_text import page_text
from dormouse.ingest.parsed import Turn
from dormouse.model.instant import has_date
from dormouse.model.passage import Precision

T = TypeVar("T")

MAX_SHOWN_RECIPIENTS = 5
MAX_SUBJECT_CHARACTERS = 200
_SUFFIXES = frozenset({".eml", ".mbox", ".mbx"})
_MESSAGE_START = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*\r?\n(?=[!-9;-~]+:)")
_CONTENT_HEADERS = re.compile(rb"^content-[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*\r?\n?", re.IGNORECASE | re.MULTILINE)
_ESCAPED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_ANSWER_MARKS = re.compile(
    r"^(?:\s*(?:re|fwd?|aw|wg|sv|antw|回复|转发)(?:\[\d+\])?\s*[:：])+\s*", re.IGNORECASE
)
_ATTRIBUTION = re.compile(
    r"^(?:on|am|le|el|op|il)\b.{5,200}(?:wrote|schrieb|écrit|escribió|schreef|scritto)\b.*:$"
)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A document that came with a message: its text belongs into `turn`, which has none yet."""

    turn: Turn
    filename: str
    content: bytes


def is_mail(body: bytes, filename: str) -> bool:
    """By its name, or because it begins as a mailbox does."""
    suffix = PurePosixPath(filename.replace("\\", "/")).suffix.lower()
    return suffix in _SUFFIXES or (body.startswith(b"From ") and _MESSAGE_START.match(body) is not None)


def mail_parts(body: bytes, zone: ZoneInfo) -> tuple[Turn | Attachment, ...]:
    """In the order of the mailbox; a message without any text is left out.

    Raises `UnreadableDocumentError` for what is nested beyond reason.
    """
    messages = _messages(body)
    is_mailbox = len(messages) > 1
    try:
        return tuple(part for message in messages for part in _parts_of(message, zone, is_mailbox=is_mailbox))
    except RecursionError:
        raise UnreadableDocumentError("content nests messages too deeply", field="content") from None


def _messages(body: bytes) -> Sequence[bytes]:
    starts = list(_MESSAGE_START.finditer(body))
    if not starts:
        return [body]
    ends = [*(each.start() for each in starts[1:]), len(body)]
    return [_ESCAPED_FROM.sub(rb"\1", body[start.end() : end]) for start, end in zip(starts, ends, strict=True)]


def _parts_of(raw: bytes, zone: ZoneInfo, *, is_mailbox: bool) -> Iterator[Turn | Attachment]:
    message = _message(raw)
    turn = _envelope(message, zone)
    text = _body_of(message)
    if is_mailbox:
        text = _own_words(text)
    recipients = _names(message, "to")[:MAX_SHOWN_RECIPIENTS]
    if text.strip():
        addressed = f"To: {', '.join(recipients)}\n" if recipients else ""
        yield replace(turn, text=f"{addressed}{text.strip()}")
    for filename, content in _attached(message):
        named = replace(turn, subject=f"{turn.subject} › {filename}".strip(" ›"), external_id=None)
        yield Attachment(named, filename, content)


def _message(raw: bytes) -> EmailMessage:
    """With headers about its content that the library falls over, it is read as plain text without them."""
    for tried in (raw, _CONTENT_HEADERS.sub(b"", raw)):
        message = _told(partial(message_from_bytes, tried, policy=policy.default), None)
        if isinstance(message, EmailMessage):
            return message
    return EmailMessage()


def _envelope(message: EmailMessage, zone: ZoneInfo) -> Turn:
    subject = _header(message, "subject")[:MAX_SUBJECT_CHARACTERS]
    sent = _sent(message, zone)
    offset = sent.utcoffset() if sent else None
    return Turn(
        speaker=next(iter(_names(message, "from")), ""),
        role="",
        text="",
        time=f"{sent:%Y-%m-%d %H:%M}" if sent else "",
        occurred_ms=round(sent.timestamp() * 1000) if sent else None,
        offset_minutes=round(offset.total_seconds() / 60) if offset is not None else None,
        precision=Precision.INSTANT if sent else None,
        external_id=_header(message, "message-id")[:MAX_SUBJECT_CHARACTERS] or None,
        session=_ANSWER_MARKS.sub("", subject).strip().casefold(),
        subject=subject,
    )


def _header(message: EmailMessage, name: str) -> str:
    """One line, whatever the header holds."""
    return _told(lambda: " ".join(str(message.get(name, "")).split()), "")


def _names(message: EmailMessage, field: str) -> list[str]:
    return [
        name.strip() or address for name, address in getaddresses([_header(message, field)]) if name or address
    ]


def _sent(message: EmailMessage, zone: ZoneInfo) -> datetime | None:
    """A date without an offset is read in the content's zone."""
    try:
        sent = parsedate_to_datetime(_header(message, "date"))
        sent = sent if sent.tzinfo else sent.replace(tzinfo=zone)
        is_shown = has_date(round(sent.timestamp() * 1000))
    except (ValueError, TypeError, IndexError, OverflowError):  # no date, or a year that no clock reaches
        return None
    return sent if is_shown else None


def _body_of(message: EmailMessage) -> str:
    """The plain text if there is one, else what the page says."""
    body = _told(lambda: message.get_body(("plain", "html")), None)
    if body is None:
        return ""
    text = _text_of(body)
    return page_text(text) if _told(body.get_content_subtype, "") == "html" else text


def _text_of(part: MIMEPart) -> str:
    """Decoded as it says, else by what its bytes look like."""
    content = _told(partial(_bytes_of, part), b"")
    try:
        return content.decode(_told(part.get_content_charset, None) or "utf-8")
    except (LookupError, UnicodeDecodeError):
        pass
    try:
        return decode(content)
    except UnreadableDocumentError:
        return content.decode("utf-8", "replace")  # one garbled message must not cost the mailbox


def _own_words(text: str) -> str:
    """Without what the reply quotes of others, and the line that announces it."""
    lines = [line for line in text.splitlines() if not line.startswith(">")]
    return "\n".join(line for line in lines if not _ATTRIBUTION.match(line.strip().lower()))


def _attached(message: EmailMessage) -> Iterator[tuple[str, bytes]]:
    for part in message.walk():
        filename = "" if part.is_multipart() else _told(part.get_filename, None)
        if not filename:
            continue
        content = _told(partial(_bytes_of, part), b"")
        if content.strip():
            name = PurePosixPath(" ".join(filename.replace("\\", "/").split())).name
            yield name[:MAX_SUBJECT_CHARACTERS], content


def _bytes_of(part: MIMEPart) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _told(read: Callable[[], T], otherwise: T) -> T:
    """What a message says; the library falls over some headers that no standard allows."""
    try:
        return read()
    except (ValueError, LookupError, AttributeError, TypeError):
        return otherwise
