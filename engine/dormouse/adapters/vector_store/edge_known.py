"""Points as scoring needs them, kept decoded: decoding a payload costs more than finding it.

They are named by the number of their UUID, which is compared and hashed ten times faster than its text and
has the same order.
"""

import base64
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

MAX_KNOWN = 20_000  # points; about 30 MB
KNOWN_FIELDS = ("dataset", "kind", "speaker", "role", "occurred", "previous", "tokens")

Payloads = Callable[[Sequence[str]], Collection[tuple[int, Mapping[str, Any]]]]


class KnownPoint(NamedTuple):
    """`dataset` is its key; `previous` are the numbers of the passages before it, nearest first."""

    id: str
    dataset: str
    kind: int
    speaker: str
    role: str
    occurred: int | None
    previous: tuple[int, ...]
    tokens: bytes


class KnownPoints:
    """`payloads` reads what is not known; whoever changes points says so."""

    def __init__(self, payloads: Payloads) -> None:
        self._payloads = payloads
        self._points: dict[int, KnownPoint] = {}

    def of(self, numbers: Collection[int], datasets: Collection[str]) -> dict[int, KnownPoint]:
        """Those of `numbers`, in their order, that lie in `datasets`."""
        unknown = [number for number in numbers if number not in self._points]
        if len(self._points) + len(unknown) > MAX_KNOWN:
            self._points.clear()
            unknown = list(numbers)
        for number, payload in self._payloads(list(map(text_of, unknown))) if unknown else ():
            self._points[number] = _decoded(number, payload)
        found = ((number, self._points[number]) for number in numbers if number in self._points)
        return {number: point for number, point in found if point.dataset in datasets}

    def forget(self, ids: Collection[str]) -> None:
        for id_ in ids:
            self._points.pop(number_of(id_), None)

    def forget_all(self) -> None:
        self._points.clear()


def number_of(id_: UUID | str | int) -> int:
    """Of an id as we write it, or as the engine names it."""
    return id_.int if isinstance(id_, UUID) else int(str(id_).replace("-", ""), 16)


def text_of(number: int) -> str:
    return str(UUID(int=number))


def _decoded(number: int, payload: Mapping[str, Any]) -> KnownPoint:
    return KnownPoint(
        id=text_of(number),
        dataset=payload["dataset"],
        kind=payload["kind"],
        speaker=payload["speaker"],
        role=payload["role"],
        occurred=payload.get("occurred"),
        previous=tuple(map(number_of, payload["previous"])),
        tokens=base64.b64decode(payload["tokens"]),
    )
