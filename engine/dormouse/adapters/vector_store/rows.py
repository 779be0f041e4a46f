"""What is stored and asked of either engine, in plain values: they also cross a pipe.

A filter is a list of conditions, a point or an arm a tuple.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

DENSE, TERMS, WINDOW = "dense", "terms", "window"  # the named vectors of a point
TURN, DERIVED = 0, 2  # the kinds that are read with those before; the model's own names would bring numpy along
BEFORE = 2

Condition = tuple[Literal["any", "equals", "range"], str, Any]  # a range is (from, below), either may be None
Where = Sequence[Condition]


class Row(NamedTuple):
    """A point: `dense` is float32 bytes, terms are ids and weights in the same order."""

    id: str
    payload: dict[str, Any]
    dense: bytes
    terms: tuple[list[int], list[float]]
    window: tuple[list[int], list[float]]


class Arm(NamedTuple):
    """`query` is float32 bytes for the dense vector, else ids and weights."""

    name: str
    query: bytes | tuple[list[int], list[float]]
    limit: int


class Named(NamedTuple):
    """Rows are candidates by id, then passages before them; numbers cross the pipe as packed columns.

    `scores` has a column of float32 for each arm; `previous` are int32 rows, `BEFORE` of them for each
    candidate and -1 for none; `kinds` is a byte a candidate; `sizes` are int32 bytes of each row's tokens.
    """

    ids: Sequence[str]
    kinds: bytes
    speakers: Sequence[str]
    roles: Sequence[str]
    occurred: Sequence[int | None]
    previous: bytes
    scores: list[bytes]
    sizes: bytes
    tokens: bytes
