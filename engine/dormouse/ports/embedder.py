"""Text to vectors: pooled for passages and queries, token vectors from the same forward pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """`dense`: unit length, float16. `tokens`: packed signs as in `PassageVectors`, empty if not offered."""

    dense: NDArray[np.float16]
    tokens: bytes


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """`tokens`: one unit row per query token, float32, (0, dimension) if not offered; `token_weights`
    tells how much each row counts (a stop word 0.1)."""

    dense: NDArray[np.float32]
    tokens: NDArray[np.float32]
    token_weights: NDArray[np.float32]


class Embedder(Protocol):
    @property
    def model(self) -> str:
        """Name and version: recorded with the collection, so that another model is noticed."""
        ...

    @property
    def dimension(self) -> int: ...

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[EmbeddedText]:
        """In the order given. Raises `EmbedderUnavailableError`."""
        ...

    async def embed_query(self, text: str) -> EmbeddedQuery: ...

    async def close(self) -> None: ...


class Embedders(Protocol):
    """The models at hand: the one that made the active vectors, and others to move to."""

    @property
    def active(self) -> Embedder:
        """Ask for it once per piece of work: it may be another one after a migration."""
        ...

    @property
    def configured(self) -> Embedder:
        """The one that is wanted: another than the active one until a migration is through."""
        ...

    def of(self, model: str) -> Embedder:
        """Raises `EmbedderUnavailableError` for a model that is not at hand."""
        ...

    def use(self, model: str) -> None:
        """From now on this one is active."""
        ...

    async def close(self) -> None: ...
