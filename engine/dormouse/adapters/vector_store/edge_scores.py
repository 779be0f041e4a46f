"""What an arm gives points that are known, in arithmetic: the engine would look each up in every segment.

The numbers are those that the engine stored, so the scores are the engine's own up to rounding.
"""

from array import array
from collections.abc import Mapping, Sequence

import numpy as np

from dormouse.adapters.vector_store.edge_calls import BEFORE, DENSE, WINDOW, Arm, Named
from dormouse.adapters.vector_store.edge_known import KnownPoint


def named(arms: Sequence[Arm], candidates: Mapping[int, KnownPoint], before: Mapping[int, KnownPoint]) -> Named:
    """The candidates and those before them by their numbers, in columns."""
    place = {number: row for row, number in enumerate((*candidates, *before))}
    chosen, behind = list(candidates.values()), list(before.values())
    rows = chosen + behind
    # Which words those before hold is in the window's terms already.
    none = bytes(4 * len(behind))
    previous = [place.get(number, -1) for point in chosen for number in (*point.previous, -1, -1)[:BEFORE]]
    return Named(
        ids=[point.id for point in rows],
        kinds=bytes([point.kind for point in chosen]),
        speakers=[point.speaker for point in chosen],
        roles=[point.role for point in chosen],
        occurred=[point.occurred for point in chosen],
        previous=array("i", previous).tobytes(),
        scores=[column(arm, rows) if arm.name == DENSE else column(arm, chosen) + none for arm in arms],
        sizes=array("i", [len(point.tokens) for point in rows]).tobytes(),
        tokens=b"".join([point.tokens for point in rows]),
    )


def column(arm: Arm, points: Sequence[KnownPoint]) -> bytes:
    """float32, one a point; 0 where nothing matches."""
    if isinstance(arm.query, bytes):
        return _cosines(arm.query, [point.dense for point in points])
    terms, weights = arm.query
    return _products(terms, weights, [point.window if arm.name == WINDOW else point.terms for point in points])


def _cosines(query: bytes, rows: Sequence[bytes]) -> bytes:
    """Rows are float16 of unit length; the engine rounds the query as it rounds what it stores."""
    asked = np.frombuffer(query, dtype=np.float32)
    unit = (asked / np.float32(max(float(np.linalg.norm(asked)), 1e-12))).astype(np.float16)
    matrix = np.frombuffer(b"".join(rows), dtype=np.float16).reshape(len(rows), len(asked))
    return np.asarray(matrix.astype(np.float32) @ unit.astype(np.float32), dtype=np.float32).tobytes()


def _products(terms: Sequence[int], weights: Sequence[float], rows: Sequence[bytes]) -> bytes:
    """Rows are ids as uint32, then as many weights as float32."""
    packed = np.frombuffer(b"".join(rows), dtype=np.uint32)
    lengths = np.array([len(row) // 8 for row in rows], dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum(2 * lengths)))[:-1]
    owners = np.repeat(np.arange(len(rows)), lengths)
    places = np.arange(len(owners)) + np.repeat(
        starts - np.concatenate(([0], np.cumsum(lengths)))[:-1], lengths
    )
    asked = np.array(terms, dtype=np.uint32)
    nearest = np.minimum(np.searchsorted(asked, packed[places]), len(asked) - 1)
    hit = np.flatnonzero(asked[nearest] == packed[places])
    stored = packed.view(np.float32)[places[hit] + lengths[owners[hit]]]
    products = np.array(weights, dtype=np.float32)[nearest[hit]] * stored
    return np.bincount(owners[hit], products, minlength=len(rows)).astype(np.float32).tobytes()
