"""Passages to memories: facts with their quote, episodes, foresights and entities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive passages that are read together. `before` helps to understand them and yields nothing;
    `wish` is what the caller who remembered them asks the extraction to look for."""

    passages: tuple[Passage, ...]
    before: tuple[Passage, ...] = ()
    zone: str = "UTC"
    wish: str = ""


@dataclass(frozen=True, slots=True)
class ModelUsage:
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True)
class WindowExtraction:
    """One extraction per passage, in order. `dropped` counts by reason what was said and not kept, `repaired`
    quotes that had to be put right."""

    extractions: tuple[Extraction, ...]
    usage: ModelUsage = ModelUsage()
    dropped: Mapping[str, int] = field(default_factory=dict)
    repaired: int = 0


class WindowExtractor(Protocol):
    """Derives memories with a language model: slow, not free, and never needed for being found."""

    @property
    def version(self) -> str:
        """Model and prompt: results of another version are not copied."""
        ...

    def estimated_tokens(self, window: Window) -> int:
        """About what deriving this window will take, in and out."""
        ...

    async def derive(self, window: Window) -> WindowExtraction:
        """Raises `ModelUnavailableError` and `ModelRefusedError`; a malformed reply is dropped and counted."""
        ...
