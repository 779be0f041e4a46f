"""Passages to memories: facts with their quote, episodes, foresights and entities."""

from collections.abc import Sequence
from typing import Protocol

from dormouse.model.memory import Extraction
from dormouse.model.passage import Passage


class Extractor(Protocol):
    @property
    def version(self) -> str:
        """Recorded with what it found; another version may find something else."""
        ...

    async def extract(self, passages: Sequence[Passage], zone: str) -> Sequence[Extraction]:
        """One result per passage, in order. `zone` is where naive times in the content are read (IANA)."""
        ...
