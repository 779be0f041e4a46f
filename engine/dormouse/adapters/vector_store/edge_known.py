"""Points as scoring needs them, kept decoded: decoding one costs more than finding it.

They are named by the number of their UUID, which is compared and hashed ten times faster than its text and
has the same order.
"""

import base64
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, islice, repeat
from sys import intern
from typing import Any, NamedTuple
from uuid import UUID

from dormouse.adapters.vector_store.rows import BEFORE, DENSE, TERMS, WINDOW

MAX_KNOWN = 150_000  # points, 4 KB each; whoever has more pays for decoding those that a recall meets
KNOWN_FIELDS = ("dataset", "kind", "speaker", "role", "occurred", "previous", "tokens")


Packed = tuple[bytes, bytes]  # ids of terms as uint32, and as many weights as float32
NO_TERMS: Packed = (b"", b"")
NONE_BEFORE = -1


class KnownPoint(NamedTuple):
    """`dataset` is its key; `previous` are the numbers of the `BEFORE` passages before it, nearest first, with
    `NONE_BEFORE` for those that are not there.

    `dense` is of unit length, the numbers that the engine keeps as float16 in the float32 they are computed in.
    """

    id: str
    dataset: str
    kind: int
    speaker: str
    role: str
    occurred: int | None
    previous: tuple[int, ...]
    tokens: bytes
    dense: bytes
    terms: Packed
    window: Packed


Read = Callable[[Sequence[str]], Collection[KnownPoint]]


class KnownPoints:
    """`read` fetches what is not known; whoever changes points says so."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._points: dict[int, KnownPoint] = {}

    def of(self, numbers: Collection[int], datasets: Collection[str]) -> dict[int, KnownPoint]:
        """Those of `numbers`, in their order, that lie in `datasets`."""
        unknown = [number for number in numbers if number not in self._points]
        if unknown:
            self.learn(self._read(list(map(text_of, unknown))))
        found = zip(numbers, map(self._points.get, numbers), strict=True)
        chosen = {number: point for number, point in found if point is not None and point.dataset in datasets}
        self._shrink()
        return chosen

    def learn(self, points: Collection[KnownPoint]) -> None:
        for point in points:
            self._points[number_of(point.id)] = point

    @property
    def is_full(self) -> bool:
        return len(self._points) >= MAX_KNOWN * 9 // 10

    def forget(self, ids: Collection[str]) -> None:
        for id_ in ids:
            self._points.pop(number_of(id_), None)

    def _shrink(self) -> None:
        """Those known longest go, a tenth at once."""
        if len(self._points) > MAX_KNOWN:
            for number in list(islice(self._points, len(self._points) - MAX_KNOWN * 9 // 10)):
                del self._points[number]

    def forget_all(self) -> None:
        self._points.clear()


def number_of(id_: UUID | str | int) -> int:
    """Of an id as we write it, or as the engine names it."""
    return id_.int if isinstance(id_, UUID) else int(str(id_).replace("-", ""), 16)


def text_of(number: int) -> str:
    return str(UUID(int=number))


def decoded(id_: str, payload: Mapping[str, Any], vectors: Mapping[str, Any]) -> KnownPoint:
    """Of what the engine returns; names that many points share are kept once."""
    return KnownPoint(
        id=id_,
        dataset=intern(payload["dataset"]),
        kind=payload["kind"],
        speaker=intern(payload["speaker"]),
        role=intern(payload["role"]),
        occurred=payload.get("occurred"),
        previous=tuple(islice(chain(map(number_of, payload["previous"]), repeat(NONE_BEFORE)), BEFORE)),
        tokens=base64.b64decode(payload["tokens"]),
        dense=array("f", vectors[DENSE]).tobytes(),
        terms=_packed(vectors.get(TERMS)),
        window=_packed(vectors.get(WINDOW)),
    )


def _packed(sparse: Any) -> Packed:  # noqa: ANN401 the engine's own, or None
    if sparse is None:
        return NO_TERMS
    return array("I", sparse.indices).tobytes(), array("f", sparse.values).tobytes()
