"""Bytes to turns or sections, decided by what the caller said, the name and the bytes, in this order.

Plain text, Markdown, code, tables, JSON and chats are read here; other formats go to the `DocumentReader`.
"""

import asyncio
from dataclasses import replace
from pathlib import PurePosixPath
from zoneinfo import ZoneInfo

from dormouse.errors import InvalidInputError, TooLargeError, UnreadableDocumentError
from dormouse.ingest.decode import decode
from dormouse.ingest.parse_chat import title_of_json, turns_of_json
from dormouse.ingest.parse_mail import Attachment, is_mail, mail_parts
from dormouse.ingest.parse_markdown import looks_like_markdown, parse_markdown
from dormouse.ingest.parse_records import load_json, load_json_lines, parse_code, parse_json, parse_table
from dormouse.ingest.parse_transcript import turns_of_transcript
from dormouse.ingest.parsed import ParsedDocument, Section, Turn
from dormouse.ingest.sound_text import check_characters
from dormouse.ingest.timestamps import zone_named
from dormouse.model.document import CONTENT_LIMIT_BYTES, ContentKind
from dormouse.ports.document_reader import DocumentReader
from dormouse.text.soundness import is_encodable

_MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".mkd"})
_JSON = frozenset({".json", ".jsonl", ".ndjson"})
_TABLES = {".csv": ",", ".tsv": "\t"}
_CODE = frozenset(
    """.py .pyi .js .jsx .mjs .cjs .ts .tsx .java .kt .kts .go .rs .c .h .cc .cpp .hpp .cs .rb .php .swift .sh
    .scala .bash .zsh .ps1 .sql .lua .pl .r .jl .ex .exs .erl .hs .clj .dart .vue .svelte .css .scss .less .tf
    .proto .graphql .yaml .yml .toml .ini .cfg .conf .env .properties .gradle .cmake .xml .svg""".split()
)
_READER = frozenset(
    """.pdf .docx .doc .docm .dotx .odt .rtf .pptx .ppt .pptm .ppsx .odp .xlsx .xls .xlsm .xlsb .ods .html .htm
    .xhtml .mht .msg .epub .fb2 .ipynb .zip .tar .tgz .gz .7z .png .jpg .jpeg .gif .webp .tiff .tif
    .bmp""".split()
)
_MAGIC = (b"%PDF-", b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{\\rtf", b"\x1f\x8b")
_MAX_TITLE_WORDS = 12
MAX_READ_ATTACHMENTS = 50  # each may cost the reader seconds; the others are found by their message alone
MAX_ITEMS = 100_000  # each becomes a passage; ten megabytes of one-word messages would be a million


async def parse(
    body: bytes, kind: ContentKind, filename: str, zone: str, reader: DocumentReader
) -> ParsedDocument:
    """`zone` is the IANA zone of naive times inside. The result always holds some text.

    Raises `TooLargeError`, `UnreadableDocumentError`, or `InvalidInputError` naming `content` or `zone`.
    """
    if len(body) > CONTENT_LIMIT_BYTES:
        raise TooLargeError(f"content must not be larger than {CONTENT_LIMIT_BYTES:,} bytes", field="content")
    named = zone_named(zone)
    if kind is ContentKind.FILE and is_mail(body, filename):
        return _checked(await _parse_mail(body, named, reader))
    if kind is ContentKind.FILE and _is_for_reader(body, filename):
        read = await reader.read(body, filename)
        parsed = parse_markdown(_without_unsound(read.markdown), zone)
        return _checked(
            ParsedDocument(
                title=read.title.strip() or parsed.title,
                sections=parsed.sections,
                occurred_ms=read.created_ms if parsed.occurred_ms is None else parsed.occurred_ms,
            )
        )
    # In a thread: megabytes take seconds, and the loop has callers to answer.
    return _checked(await asyncio.to_thread(lambda: _parse_text(decode(body), kind, filename, named)))


async def _parse_mail(
    body: bytes, zone: ZoneInfo, reader: DocumentReader, *, left: int = MAX_READ_ATTACHMENTS
) -> ParsedDocument:
    """Attachments are read like files of their own; one that cannot be read takes nothing else with it."""
    parts = await asyncio.to_thread(mail_parts, body, zone)
    turns: list[Turn] = []
    for part in parts:
        if isinstance(part, Turn):
            turns.append(part)
        elif left:
            left -= 1
            turns += await _attachment(part, zone, reader)
    return ParsedDocument(title=turns[0].subject if len(parts) == 1 and turns else "", turns=tuple(turns))


async def _attachment(part: Attachment, zone: ZoneInfo, reader: DocumentReader) -> list[Turn]:
    try:
        if is_mail(part.content, part.filename):  # a mail inside a mail: its words, not its attachments
            read = await _parse_mail(part.content, zone, reader, left=0)
        else:
            read = await parse(part.content, ContentKind.FILE, part.filename, zone.key, reader)
    except InvalidInputError:  # a picture, an empty or damaged file
        return []
    texts = [f"{turn.speaker}: {turn.text}".removeprefix(": ") for turn in read.turns]
    texts += ["\n".join([" › ".join(section.heading), section.text]).strip() for section in read.sections]
    return [replace(part.turn, text=text) for text in texts]


def _is_for_reader(body: bytes, filename: str) -> bool:
    return body.startswith(_MAGIC) or _suffix(filename) in _READER


def _suffix(filename: str) -> str:
    return PurePosixPath(filename.replace("\\", "/")).suffix.lower()


def _parse_text(text: str, kind: ContentKind, filename: str, zone: ZoneInfo) -> ParsedDocument:
    if not text.strip():
        raise InvalidInputError("content must not be empty or blank", field="content")
    if kind is ContentKind.CHAT:
        return _parse_chat(text, zone)
    suffix = _suffix(filename) if kind is ContentKind.FILE else ""
    if suffix in _TABLES:
        return parse_table(text, filename, _TABLES[suffix])
    if suffix in _CODE:
        return parse_code(text, filename)
    return (
        (_parse_json(text, filename, zone) if suffix in _JSON or text.lstrip()[:1] in "[{" else None)
        or _parse_conversation(text, zone, suffix)
        or _parse_prose(text, zone, suffix)
    )


def _parse_chat(text: str, zone: ZoneInfo) -> ParsedDocument:
    value = _json_or_none(text)
    turns = turns_of_json(value, zone, is_forced=True) if value is not None else ()
    turns = turns or turns_of_transcript(text, zone, is_forced=True)
    if not turns:
        raise UnreadableDocumentError(
            'content must be a JSON list of messages with "role" or "speaker" and "content" or "text",'
            ' or lines of the form "Name: text"',
            field="content",
        )
    return ParsedDocument(title=title_of_json(value), turns=turns)


def _parse_json(text: str, filename: str, zone: ZoneInfo) -> ParsedDocument | None:
    """None if it is no JSON after all: then it is read as the text that it is."""
    value = _json_or_none(text)
    if not isinstance(value, dict | list):
        return None
    turns = turns_of_json(value, zone, is_forced=False)
    if turns:
        return ParsedDocument(title=title_of_json(value), turns=turns)
    return parse_json(value, filename)


def _json_or_none(text: str) -> object:
    try:
        return load_json(text)
    except ValueError:
        pass
    if text.lstrip()[:1] not in "[{":
        return None
    try:
        return load_json_lines(text)
    except ValueError:
        return None


def _parse_conversation(text: str, zone: ZoneInfo, suffix: str) -> ParsedDocument | None:
    if suffix not in {"", ".txt", ".text", ".log", *_MARKDOWN}:
        return None
    turns = turns_of_transcript(text, zone, is_forced=False)
    return ParsedDocument(turns=turns) if turns else None


def _parse_prose(text: str, zone: ZoneInfo, suffix: str) -> ParsedDocument:
    if suffix in _MARKDOWN or looks_like_markdown(text):
        return parse_markdown(text, zone.key)
    return ParsedDocument(title=_first_line_title(text), sections=(Section((), text.strip("\n")),))


def _first_line_title(text: str) -> str:
    """A short first line without a full stop, over more text, names the whole; it stays in the text."""
    first, _, rest = text.strip().partition("\n")
    first = first.strip()
    is_short = len(first.split()) <= _MAX_TITLE_WORDS and len(first) <= 120
    is_name = is_short and first[-1] not in ".!?:;,。！？：" and ": " not in first
    return first if is_name and rest.strip() else ""


def _without_unsound(markdown: str) -> str:
    """Readers of damaged fonts emit NULs; they say nothing."""
    text = markdown.replace("\0", "")
    return text if is_encodable(text) else text.encode("utf-8", "ignore").decode("utf-8")


def _checked(parsed: ParsedDocument) -> ParsedDocument:
    """Escapes in JSON can name what no store can hold, and a container can be empty."""
    if not parsed.turns and not any(section.text.strip() for section in parsed.sections):
        raise UnreadableDocumentError("content holds no text", field="content")
    if len(parsed.turns) + len(parsed.sections) > MAX_ITEMS:
        raise TooLargeError(
            f"content must not hold more than {MAX_ITEMS:,} messages or sections", field="content"
        )
    check_characters(parsed.title, "content")
    for turn in parsed.turns:
        _check_turn(turn)
    for section in parsed.sections:
        check_characters(section.text, "content")
    return parsed


def _check_turn(turn: Turn) -> None:
    for value in (turn.text, turn.speaker, turn.time, turn.session, turn.external_id or ""):
        check_characters(value, "content")
