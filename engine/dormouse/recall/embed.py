"""The query to vectors, once; without an embedder the terms still answer, and the answer says so."""

import math

import numpy as np

from dormouse.errors import EmbedderUnavailableError
from dormouse.ports.embedder import EmbeddedQuery, Embedder


async def embed_query(embedder: Embedder, query: str) -> EmbeddedQuery:
    """Raises `EmbedderUnavailableError`, also for vectors that are not finite: a NaN ranks first."""
    embedded = await embedder.embed_query(query)
    if not (math.isfinite(float(embedded.dense.sum())) and np.isfinite(embedded.tokens).all()):
        raise EmbedderUnavailableError("the embedding model answered with numbers that are not finite")
    return embedded
