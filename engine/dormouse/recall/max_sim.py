"""Max-sim over signs: for each query token the best of a passage's token vectors.

Signs lose nothing against floats here, and tens of thousands of them are compared in milliseconds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dormouse.model.passage import TOKEN_VECTOR_BYTES
from dormouse.ports.embedder import EmbeddedQuery

_BITS = 8
_ONE = 32_000  # rounding adds at most half a part for each byte
_LANES = 16


@dataclass(frozen=True, slots=True, eq=False)
class AskedTokens:
    """The token vectors of a query, ready to be compared.

    `table` has, for each byte of a packed vector, what its eight signs add to the cosine with each token: in
    parts of `_ONE`, in rows of full cache lines, 0 in the lanes beyond the tokens. `weights` sum up to 1.
    """

    table: NDArray[np.int16]
    weights: NDArray[np.float32]


def asked_tokens(query: EmbeddedQuery) -> AskedTokens:
    """Needs nothing of the passages, so it can be made while they are being found."""
    count, dimension = query.tokens.shape
    by_place = query.tokens.reshape(count, dimension // _BITS, _BITS).transpose(1, 2, 0)
    by_place = by_place * np.float32(_ONE / np.sqrt(max(dimension, 1)))
    table = np.zeros((dimension // _BITS, 1 << _BITS, -(-count // _LANES) * _LANES), dtype=np.float32)
    table[:, 0, :count] = -by_place.sum(axis=1)  # no bit is set: every sign is -1
    for bit in range(_BITS):
        half = 1 << bit  # the bytes below are those with this bit not set
        table[:, half : 2 * half, :count] = table[:, :half, :count] + 2 * by_place[:, _BITS - 1 - bit, None]
    weights = query.token_weights / max(float(query.token_weights.sum()), 1e-6)
    return AskedTokens(np.rint(table, out=table).astype(np.int16), weights.astype(np.float32))


def token_maxima(asked: AskedTokens, sizes: NDArray[np.int32], tokens: bytes) -> NDArray[np.float32]:
    """One row per passage, one column per query token, already weighted; 0 for a passage without vectors.

    `sizes` are the bytes of each passage in `tokens`. A row's sum is the passage's score, and the row-wise
    maximum of several passages is their window's.
    """
    count = len(asked.weights)
    maxima = np.zeros((len(sizes), count), dtype=np.float32)
    filled = np.flatnonzero(sizes)
    if not len(filled) or not count:
        return maxima
    packed = np.frombuffer(tokens, dtype=np.uint8).reshape(-1, TOKEN_VECTOR_BYTES)
    counts = sizes[filled] // TOKEN_VECTOR_BYTES
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    best = np.maximum.reduceat(_similarities(asked, packed), starts, axis=0)[:, :count]
    maxima[filled] = best * (asked.weights / np.float32(_ONE))
    return maxima


def _similarities(asked: AskedTokens, packed: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Cosine of each packed row with each token, in parts of `_ONE`.

    Each of a row's bytes looks up what its eight signs add: half the time of unpacking them for a matrix
    product, a tenth of the memory, and no threads that would take the other core. In whole numbers, rows of
    full cache lines, it takes half of that again. No sum leaves 16 bits, because a token has unit length.
    """
    similarities = np.zeros((len(packed), asked.table.shape[2]), dtype=np.int16)
    looked_up = np.empty_like(similarities)
    for place, values in enumerate(np.ascontiguousarray(packed.T)):
        np.take(asked.table[place], values, axis=0, out=looked_up, mode="clip")
        similarities += looked_up
    return similarities
