"""Formats that are not text (PDF, Office, HTML, mail …) to Markdown, under limits of memory and time."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """`markdown` keeps headings; `title` is the document's own, empty if it has none."""

    markdown: str
    title: str
    created_ms: int | None


class DocumentReader(Protocol):
    async def read(self, content: bytes, filename: str) -> ReadDocument:
        """Raises `UnreadableDocumentError` for damaged, encrypted, empty or bomb-like content."""
        ...
