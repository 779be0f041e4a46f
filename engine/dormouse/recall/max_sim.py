"""Max-sim over signs: for each query token the best of a passage's token vectors.

Signs lose nothing against floats here, and tens of thousands of them are compared in milliseconds.
"""

import numpy as np
from numpy.typing import NDArray

from dormouse.model.passage import TOKEN_VECTOR_BYTES
from dormouse.ports.embedder import EmbeddedQuery

_SIGNS = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32) - 1.0
_BITS = _SIGNS.shape[1]


def token_maxima(query: EmbeddedQuery, sizes: NDArray[np.int32], tokens: bytes) -> NDArray[np.float32]:
    """One row per passage, one column per query token, already weighted; 0 for a passage without vectors.

    `sizes` are the bytes of each passage in `tokens`. A row's sum is the passage's score, and the row-wise
    maximum of several passages is their window's.
    """
    maxima = np.zeros((len(sizes), len(query.tokens)), dtype=np.float32)
    filled = np.flatnonzero(sizes)
    if not len(filled) or not len(query.tokens):
        return maxima
    packed = np.frombuffer(tokens, dtype=np.uint8).reshape(-1, TOKEN_VECTOR_BYTES)
    counts = sizes[filled] // TOKEN_VECTOR_BYTES
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    best = np.maximum.reduceat(_similarities(query.tokens, packed), starts, axis=0)
    maxima[filled] = best * (query.token_weights / max(float(query.token_weights.sum()), 1e-6))
    return maxima


def _similarities(tokens: NDArray[np.float32], packed: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Cosine of each packed row with each token; a set bit stands for the sign +1 of length √dimension.

    Each of a row's bytes looks up what its eight signs add: half the time of unpacking them for a matrix
    product, a tenth of the memory, and no threads that would take the other core.
    """
    dimension = tokens.shape[1]
    by_byte = tokens.reshape(len(tokens), dimension // _BITS, _BITS).transpose(1, 2, 0)
    table = np.ascontiguousarray(_SIGNS @ (by_byte / np.float32(np.sqrt(dimension))))
    similarities = np.zeros((len(packed), len(tokens)), dtype=np.float32)
    for place, values in enumerate(np.ascontiguousarray(packed.T)):
        similarities += np.take(table[place], values, axis=0)
    return similarities
