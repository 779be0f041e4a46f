import base64
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from dormouse.adapters.vector_store import edge_known
from dormouse.adapters.vector_store.edge_known import (
    NO_TERMS,
    NONE_BEFORE,
    KnownPoint,
    KnownPoints,
    decoded,
    number_of,
    text_of,
)
from dormouse.adapters.vector_store.rows import BEFORE, DENSE, TERMS, TURN
from dormouse.model.passage import WINDOW_BEFORE, PassageKind

IDS = [f"00000000-0000-4000-8000-{number:012x}" for number in range(5)]


@dataclass
class Sparse:
    """As the engine returns it."""

    indices: list[int]
    values: list[float]


def a_known_point(id_: str, speaker: str = "Ada") -> KnownPoint:
    dataset = "foreign" if id_ == IDS[1] else "mine"
    return KnownPoint(id_, dataset, TURN, speaker, "", None, (), b"signs", b"dense", NO_TERMS, NO_TERMS)


class Shelf:
    """Points by id; remembers what was asked of it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.speaker = "Ada"

    def read(self, ids: Sequence[str]) -> list[KnownPoint]:
        self.asked.extend(ids)
        return [a_known_point(id_, self.speaker) for id_ in ids if id_ in IDS]


def numbers(*places: int) -> list[int]:
    return [number_of(IDS[place]) for place in places]


def test_a_number_and_the_text_of_an_id_are_one_and_in_one_order() -> None:
    assert [text_of(number_of(id_)) for id_ in IDS] == IDS
    assert sorted(map(number_of, IDS[::-1])) == [number_of(id_) for id_ in sorted(IDS)]


def test_the_names_that_cross_the_pipe_are_the_models() -> None:
    assert (tuple(PassageKind)[TURN], BEFORE) == (PassageKind.TURN, WINDOW_BEFORE)


def test_what_the_engine_returns_is_packed() -> None:
    payload = {
        "dataset": "mine",
        "kind": TURN,
        "speaker": "Ada",
        "role": "user",
        "occurred": -5,
        "previous": [IDS[0]],
        "tokens": base64.b64encode(b"signs").decode(),
    }

    point = decoded(IDS[2], payload, {DENSE: [0.5, -1.0], TERMS: Sparse([7, 2**32 - 1], [1.0, 2.5])})

    assert (point.id, point.dataset, point.speaker, point.role, point.occurred) == (
        IDS[2], "mine", "Ada", "user", -5,
    )  # fmt: skip
    assert (point.previous, point.tokens) == ((*numbers(0), NONE_BEFORE), b"signs")
    assert struct.unpack("<2f", point.dense) == (0.5, -1.0)
    assert point.terms == (struct.pack("<2I", 7, 2**32 - 1), struct.pack("<2f", 1.0, 2.5))
    assert point.window == NO_TERMS


def test_a_point_is_read_once() -> None:
    shelf = Shelf()
    known = KnownPoints(shelf.read)

    first, again = known.of(numbers(2), {"mine"}), known.of(numbers(2), {"mine"})

    assert first == again == {number_of(IDS[2]): a_known_point(IDS[2])}
    assert shelf.asked == [IDS[2]]


def test_what_lies_elsewhere_is_left_out_also_once_it_is_known() -> None:
    known = KnownPoints(Shelf().read)

    assert set(known.of(numbers(1), {"foreign"})) == set(numbers(1))
    assert set(known.of(numbers(1, 2), {"mine"})) == set(numbers(2))


def test_what_changed_is_read_again() -> None:
    shelf = Shelf()
    known = KnownPoints(shelf.read)
    known.of(numbers(2, 3), {"mine"})
    shelf.speaker = "Grace"

    known.forget([IDS[2], "00000000-0000-4000-8000-ffffffffffff"])
    assert [point.speaker for point in known.of(numbers(2, 3), {"mine"}).values()] == ["Grace", "Ada"]
    known.forget_all()
    assert [point.speaker for point in known.of(numbers(2, 3), {"mine"}).values()] == ["Grace", "Grace"]


def test_no_more_is_kept_than_the_bound_and_the_oldest_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_known, "MAX_KNOWN", 3)
    shelf = Shelf()
    known = KnownPoints(shelf.read)
    known.of(numbers(0, 2, 3), {"mine"})

    assert list(known.of(numbers(4), {"mine"})) == numbers(4)
    known.of(numbers(3, 4), {"mine"})
    known.of(numbers(0), {"mine"})
    assert shelf.asked == [IDS[0], IDS[2], IDS[3], IDS[4], IDS[0]]
