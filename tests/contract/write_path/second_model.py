"""A second embedding model, of another dimension: directions that the text's hash fixes."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dormouse.ports.embedder import EmbeddedQuery, EmbeddedText

DIMENSION = 16


@dataclass
class HashEmbedder:
    """`embedded` lists what it was asked for."""

    model: str = "hash/1"
    dimension: int = DIMENSION
    embedded: list[str] = field(default_factory=list)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[EmbeddedText]:
        self.embedded += texts
        return [EmbeddedText(_direction(text).astype(np.float16), b"") for text in texts]

    async def embed_query(self, text: str) -> EmbeddedQuery:
        nothing = np.zeros((0, DIMENSION), dtype=np.float32)
        return EmbeddedQuery(_direction(text), nothing, np.zeros(0, dtype=np.float32))

    async def close(self) -> None:
        """Nothing is held."""


def _direction(text: str) -> NDArray[np.float32]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(DIMENSION)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)
