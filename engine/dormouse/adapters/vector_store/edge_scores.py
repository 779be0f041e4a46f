"""What an arm gives points that are known, in arithmetic: the engine would look each up in every segment.

The numbers are those that the engine stored, so the scores are the engine's own up to rounding.
"""

from array import array
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np

from dormouse.adapters.vector_store.edge_known import KnownPoint, Packed
from dormouse.adapters.vector_store.rows import DENSE, WINDOW, Arm, Named


def named(arms: Sequence[Arm], candidates: Mapping[int, KnownPoint], before: Mapping[int, KnownPoint]) -> Named:
    """The candidates and those before them by their numbers, in columns."""
    place = {number: row for row, number in enumerate((*candidates, *before))}
    chosen, rows = _columns(candidates.values()), _columns((*candidates.values(), *before.values()))
    # Which words those before hold is in the window's terms already.
    none = bytes(4 * len(before))
    return Named(
        ids=rows.id,
        kinds=bytes(chosen.kind),
        speakers=chosen.speaker,
        roles=chosen.role,
        occurred=chosen.occurred,
        previous=array("i", map(place.get, chain(*chosen.previous), repeat(-1))).tobytes(),
        scores=[_column(arm, rows) if arm.name == DENSE else _column(arm, chosen) + none for arm in arms],
        sizes=array("i", map(len, rows.tokens)).tobytes(),
        tokens=b"".join(rows.tokens),
    )


def column(arm: Arm, points: Collection[KnownPoint]) -> bytes:
    """float32, one a point; 0 where nothing matches."""
    return _column(arm, _columns(points))


def _columns(points: Collection[KnownPoint]) -> Any:  # noqa: ANN401 a point whose every field is that of all
    """In one step: asking each point for each of its fields takes three times as long."""
    return KnownPoint(*(zip(*points, strict=True) if points else repeat((), len(KnownPoint._fields))))


def _column(arm: Arm, columns: Any) -> bytes:  # noqa: ANN401 see above
    if isinstance(arm.query, bytes):
        return _cosines(arm.query, columns.dense)
    return _products(*arm.query, columns.window if arm.name == WINDOW else columns.terms)


def _cosines(query: bytes, rows: Sequence[bytes]) -> bytes:
    """Rows are of unit length; the engine rounds the query as it rounds what it stores."""
    asked = np.frombuffer(query, dtype=np.float32)
    unit = (asked / np.float32(max(float(np.linalg.norm(asked)), 1e-12))).astype(np.float16)
    matrix = np.frombuffer(b"".join(rows), dtype=np.float32).reshape(len(rows), len(asked))
    return np.asarray(matrix @ unit.astype(np.float32), dtype=np.float32).tobytes()


def _products(terms: Sequence[int], weights: Sequence[float], rows: Sequence[Packed]) -> bytes:
    ids = np.frombuffer(b"".join([held for held, _ in rows]), dtype=np.uint32)
    stored = np.frombuffer(b"".join([values for _, values in rows]), dtype=np.float32)
    asked = np.array(terms, dtype=np.uint32)
    nearest = np.searchsorted(asked[1:], ids, side="right")  # the last that is not greater, or the first
    hit = np.flatnonzero(asked[nearest] == ids)
    ends = np.cumsum([len(held) // ids.itemsize for held, _ in rows])
    owners = np.searchsorted(ends, hit, side="right")
    products = np.array(weights, dtype=np.float32)[nearest[hit]] * stored[hit]
    return np.bincount(owners, products, minlength=len(rows)).astype(np.float32).tobytes()
