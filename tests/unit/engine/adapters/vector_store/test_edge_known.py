import base64
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from dormouse.adapters.vector_store import edge_known
from dormouse.adapters.vector_store.edge_calls import BEFORE, TURN
from dormouse.adapters.vector_store.edge_known import KnownPoint, KnownPoints, number_of, text_of
from dormouse.model.passage import WINDOW_BEFORE, PassageKind

IDS = [f"00000000-0000-4000-8000-{number:012x}" for number in range(5)]


class Shelf:
    """Payloads by id; remembers what was asked of it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.speaker = "Ada"

    def payloads(self, ids: Sequence[str]) -> list[tuple[int, Mapping[str, Any]]]:
        self.asked.extend(ids)
        return [(number_of(id_), self._payload(id_)) for id_ in ids if id_ in IDS]

    def _payload(self, id_: str) -> Mapping[str, Any]:
        return {
            "dataset": "mine" if id_ != IDS[1] else "foreign",
            "kind": TURN,
            "speaker": self.speaker,
            "role": "",
            "previous": [IDS[0]],
            "tokens": base64.b64encode(b"signs").decode(),
        }


def numbers(*places: int) -> list[int]:
    return [number_of(IDS[place]) for place in places]


def test_a_number_and_the_text_of_an_id_are_one_and_in_one_order() -> None:
    assert [text_of(number_of(id_)) for id_ in IDS] == IDS
    assert sorted(map(number_of, IDS[::-1])) == [number_of(id_) for id_ in sorted(IDS)]


def test_the_names_that_cross_the_pipe_are_the_models() -> None:
    assert (tuple(PassageKind)[TURN], BEFORE) == (PassageKind.TURN, WINDOW_BEFORE)


def test_a_point_is_decoded_once() -> None:
    shelf = Shelf()
    known = KnownPoints(shelf.payloads)

    first, again = known.of(numbers(2), {"mine"}), known.of(numbers(2), {"mine"})

    point = KnownPoint(IDS[2], "mine", TURN, "Ada", "", None, tuple(numbers(0)), b"signs")
    assert first == again == {number_of(IDS[2]): point}
    assert shelf.asked == [IDS[2]]


def test_what_lies_elsewhere_is_left_out_also_once_it_is_known() -> None:
    known = KnownPoints(Shelf().payloads)

    assert set(known.of(numbers(1), {"foreign"})) == set(numbers(1))
    assert set(known.of(numbers(1, 2), {"mine"})) == set(numbers(2))


def test_what_changed_is_read_again() -> None:
    shelf = Shelf()
    known = KnownPoints(shelf.payloads)
    known.of(numbers(2, 3), {"mine"})
    shelf.speaker = "Grace"

    known.forget([IDS[2], "00000000-0000-4000-8000-ffffffffffff"])
    assert [point.speaker for point in known.of(numbers(2, 3), {"mine"}).values()] == ["Grace", "Ada"]
    known.forget_all()
    assert [point.speaker for point in known.of(numbers(2, 3), {"mine"}).values()] == ["Grace", "Grace"]


def test_no_more_is_kept_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_known, "MAX_KNOWN", 3)
    shelf = Shelf()
    known = KnownPoints(shelf.payloads)
    known.of(numbers(0, 2, 3), {"mine"})

    assert set(known.of(numbers(3, 4), {"mine"})) == set(numbers(3, 4))
    assert shelf.asked == [IDS[0], IDS[2], IDS[3], IDS[3], IDS[4]]
