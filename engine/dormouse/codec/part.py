"""A part: up to 64 passages with everything that was computed of them, so that nothing is computed twice.

Vectors lie behind the header as raw little-endian numbers, a passage after the other: the pooled vector, the
packed token signs, then ids and weights of the terms and of the window's terms. Weights are kept as float32,
which is what stores keep.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from dormouse.codec.frame import pack, unpack
from dormouse.ids import TermId
from dormouse.model.memory import Extraction
from dormouse.model.passage import Passage, PassageVectors, Point

_TAG = b"DMA1"


@dataclass(frozen=True, slots=True)
class Part:
    """`unchanged` passages took their vectors from an older revision. `embedder` and `extractor` are versions:
    results of another version are never copied.

    A part of derived passages has the extractions of the passages they came from, and in `window` the digest of
    everything the model was given.
    """

    index: int
    embedder: str
    extractor: str
    zone: str
    unchanged: int
    passages: tuple[Passage, ...]
    extractions: tuple[Extraction, ...]
    vectors: tuple[PassageVectors, ...]
    window: str = ""

    def points(self, placed: Sequence[Passage], *, is_hidden: bool = False) -> list[Point]:
        """Its vectors under these passages of it, as a change set places them."""
        vectors = dict(zip((each.id for each in self.passages), self.vectors, strict=True))
        return [Point.of(passage, vectors[passage.id], is_hidden=is_hidden) for passage in placed]


@dataclass(frozen=True, slots=True)
class _Lengths:
    dense: int
    tokens: int
    terms: int
    window_terms: int


@dataclass(frozen=True, slots=True)
class _Header:
    index: int
    embedder: str
    extractor: str
    zone: str
    unchanged: int
    passages: tuple[Passage, ...]
    extractions: tuple[Extraction, ...]
    lengths: tuple[_Lengths, ...]
    window: str = ""


def encode_part(part: Part) -> bytes:
    header = _Header(
        index=part.index,
        embedder=part.embedder,
        extractor=part.extractor,
        zone=part.zone,
        unchanged=part.unchanged,
        passages=part.passages,
        extractions=part.extractions,
        lengths=tuple(_lengths(each) for each in part.vectors),
        window=part.window,
    )
    payload = b"".join(piece for each in part.vectors for piece in _pieces(each))
    return pack(_TAG, _adapter().dump_json(header), payload)


def decode_part(blob: bytes) -> Part:
    raw, payload = unpack(_TAG, blob)
    header = _adapter().validate_json(raw)
    return Part(
        index=header.index,
        embedder=header.embedder,
        extractor=header.extractor,
        zone=header.zone,
        unchanged=header.unchanged,
        passages=header.passages,
        extractions=header.extractions,
        vectors=tuple(_vectors(header.lengths, payload)),
        window=header.window,
    )


def _lengths(vectors: PassageVectors) -> _Lengths:
    return _Lengths(
        dense=len(vectors.dense),
        tokens=len(vectors.tokens),
        terms=len(vectors.terms),
        window_terms=len(vectors.window_terms),
    )


def _pieces(vectors: PassageVectors) -> Iterator[bytes]:
    yield vectors.dense.astype("<f2").tobytes()
    yield vectors.tokens
    for terms in (vectors.terms, vectors.window_terms):
        yield np.fromiter(terms.keys(), dtype="<i8", count=len(terms)).tobytes()
        yield np.fromiter(terms.values(), dtype="<f4", count=len(terms)).tobytes()


def _vectors(lengths: Sequence[_Lengths], payload: memoryview) -> Iterator[PassageVectors]:
    cursor = _Cursor(payload)
    for each in lengths:
        dense: NDArray[np.float16] = cursor.array("<f2", each.dense).astype(np.float16)
        tokens = cursor.take(each.tokens)
        terms = cursor.terms(each.terms)
        window_terms = cursor.terms(each.window_terms)
        yield PassageVectors(terms=terms, window_terms=window_terms, dense=dense, tokens=tokens)


class _Cursor:
    def __init__(self, payload: memoryview) -> None:
        self._payload = payload
        self._at = 0

    def take(self, length: int) -> bytes:
        piece = bytes(self._payload[self._at : self._at + length])
        if len(piece) != length:
            raise ValueError("a part blob ends early")
        self._at += length
        return piece

    def array(self, kind: str, count: int) -> "NDArray[np.generic]":
        width = np.dtype(kind)
        return np.frombuffer(self.take(count * width.itemsize), dtype=width)

    def terms(self, count: int) -> dict[TermId, float]:
        ids = self.array("<i8", count).tolist()
        weights = self.array("<f4", count).tolist()
        return dict(zip(map(TermId, ids), weights, strict=True))


@cache
def _adapter() -> TypeAdapter[_Header]:
    return TypeAdapter(_Header)
