"""Ports that the write path must not ask for text; they refuse."""

from collections.abc import Sequence

from dormouse.errors import UnreadableDocumentError
from dormouse.model.passage import Passage
from dormouse.ports.answerer import Answer
from dormouse.ports.document_reader import ReadDocument


class NoAnswerer:
    async def answer(self, question: str, passages: Sequence[Passage], instruction: str) -> Answer:
        raise AssertionError("writing never answers")

    async def close(self) -> None:
        """Nothing is open."""


class NoReader:
    async def read(self, content: bytes, filename: str) -> ReadDocument:
        raise UnreadableDocumentError("this test reads text only")

    async def close(self) -> None:
        """Nothing is open."""
