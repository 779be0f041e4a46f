"""Documents through kreuzberg, each in a process of its own that dies with its document.

A process for each costs about 0.2 s of processor time (starting Python and loading the library); a warm one
would save that and let one document's corruption, leak or spent limits reach the next. Documents are rare
beside messages, so isolation wins. Pictures are not read: text recognition is not part of this.
"""

import asyncio
import contextlib
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from dormouse.adapters.apart.process import Bounds, run_apart
from dormouse.adapters.document_reader.formats import is_encrypted_office, mime_of
from dormouse.adapters.document_reader.read_main import OUTPUT_LIMIT_CHARACTERS
from dormouse.errors import OverloadedError, UnreadableDocumentError
from dormouse.model.instant import has_date
from dormouse.ports.document_reader import ReadDocument

WALL_LIMIT_S = 60.0
MAX_AT_ONCE = 2
MAX_WAITING = 64
_OUTPUT_LIMIT_BYTES = 6 * OUTPUT_LIMIT_CHARACTERS  # JSON may write a character as six
_MODULE = "dormouse.adapters.document_reader.read_main"
_NO_TITLES = frozenset(
    {"", "untitled", "untitled document", "anonymous", "unknown", "unspecified", "document", "title"}
)
_BY_A_PROGRAM = re.compile(r"^(?:microsoft (?:word|powerpoint|excel)|print) - ", re.IGNORECASE)
_FRONT_MATTER = "---\n\n## title:"  # how the library writes the head of a web page

_MESSAGES = {
    "encrypted": "content is encrypted; remove the password and send it again",
    "expands": "content was refused because reading it takes more memory or time than a document may",
    "unsupported": "content is in a format that is not read; send it as text, PDF, Office, HTML or mail",
    "damaged": "content is damaged or is not what its name says",
    "empty": "content holds no text that can be read; scanned pages need text recognition first",
}


@dataclass(slots=True)
class _Load:
    waiting: int = 0


class KreuzbergDocumentReader:
    """`wall_limit_s` bounds one document's reading; at most `MAX_AT_ONCE` are read at a time."""

    def __init__(self, *, wall_limit_s: float = WALL_LIMIT_S) -> None:
        self._wall_limit_s = wall_limit_s
        self._slots = asyncio.Semaphore(MAX_AT_ONCE)
        self._load = _Load()

    async def read(self, content: bytes, filename: str) -> ReadDocument:
        """Raises `UnreadableDocumentError` with a plain reason, `OverloadedError` if too many wait."""
        mime = mime_of(content, filename)
        if is_encrypted_office(content):
            raise _unreadable("encrypted")
        if mime is None:
            raise _unreadable("unsupported")
        return _document(await self._in_turn(content, mime))

    async def _in_turn(self, content: bytes, mime: str) -> dict[str, Any]:
        if self._load.waiting >= MAX_WAITING:
            raise OverloadedError("too many documents wait to be read")
        self._load.waiting += 1
        try:
            async with self._slots:
                return await self._in_process(content, mime)
        finally:
            self._load.waiting -= 1

    async def _in_process(self, content: bytes, mime: str) -> dict[str, Any]:
        try:
            exit_code, output = await run_apart(
                _MODULE, mime, content, Bounds(self._wall_limit_s, _OUTPUT_LIMIT_BYTES)
            )
        except TimeoutError:
            raise _unreadable("expands") from None
        return _understood(exit_code, output)


def _understood(exit_code: int, output: bytes) -> dict[str, Any]:
    """An exit by signal is a limit that was reached or a parser that fell over; both are the document's."""
    if exit_code != 0 or not output:
        raise _unreadable("expands" if exit_code <= 0 else "damaged")
    answer: dict[str, Any] = json.loads(output)
    if "refused" in answer:
        raise _unreadable(answer["refused"])
    return answer


def _document(answer: dict[str, Any]) -> ReadDocument:
    markdown = answer["markdown"]
    if markdown.startswith(_FRONT_MATTER):
        markdown = markdown.partition("\n\n")[2].partition("\n\n")[2]
    if not markdown.strip():
        raise _unreadable("empty")
    return ReadDocument(
        markdown=markdown, title=_title(answer["title"]), created_ms=_instant(answer["created"])
    )


def _instant(written: str) -> int | None:
    """Mail dates and ISO; without an offset they are taken as UTC."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            moment = read(written.strip())
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            instant_ms = round(moment.timestamp() * 1000)
            return instant_ms if has_date(instant_ms) else None
    return None


def _unreadable(reason: str) -> UnreadableDocumentError:
    return UnreadableDocumentError(_MESSAGES[reason], field="content")


def _title(said: str) -> str:
    """Empty for what programs write where nobody gave one: the file's own name says more."""
    title = _BY_A_PROGRAM.sub("", " ".join(said.split()))
    return "" if title.strip("()[]<>. ").lower() in _NO_TITLES else title
