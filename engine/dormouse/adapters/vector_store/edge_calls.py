"""What crosses the pipe between the server and the process that holds the vectors.

Plain values only: a filter is a list of conditions, a point or an arm a tuple. A frame is a length (8 bytes,
big-endian) and a pickle, both ways; the pipe is private to parent and child.
"""

import pickle
import struct
from collections.abc import Sequence
from typing import IO, Any, Literal, NamedTuple

LENGTH = struct.Struct(">Q")
DENSE, TERMS, WINDOW = "dense", "terms", "window"  # the named vectors of a point
TURN, DERIVED = 0, 2  # the kinds that are read with those before; the model's own names would bring numpy along
BEFORE = 2

Condition = tuple[Literal["any", "equals", "range"], str, Any]  # a range is (from, below), either may be None
Where = Sequence[Condition]


class DamagedVectorsError(Exception):
    """Files of the vectors are missing or cannot be read."""


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


class Footprint(NamedTuple):
    points: int
    segments_bytes: int
    log_bytes: int


def read_frame(stream: IO[bytes]) -> Any:  # noqa: ANN401 whatever the other side sent
    """Raises EOFError when the other side is gone."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    size = LENGTH.unpack(head)[0]
    body = stream.read(size)
    if len(body) < size:
        raise EOFError
    return pickle.loads(body)  # noqa: S301 from our own child or parent, over a pipe nobody else has


def write_frame(stream: IO[bytes], value: object) -> None:
    body = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(LENGTH.pack(len(body)))
    stream.write(body)
    stream.flush()
