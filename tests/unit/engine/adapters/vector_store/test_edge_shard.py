from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from dormouse.adapters.vector_store.edge_known import KnownPoint
from dormouse.adapters.vector_store.edge_shard import Shard
from dormouse.adapters.vector_store.rows import DENSE, TURN, Arm, Condition, Row

DATASET = "00000000-0000-4000-8000-00000000dada"
WHERE: list[Condition] = [("any", "dataset", [DATASET])]
UNIT = np.eye(1, 4, dtype=np.float32).tobytes()
ARM = Arm(DENSE, UNIT, 10)


def a_row(number: int, speaker: str = "Ada") -> Row:
    payload = {
        "dataset": DATASET, "document": DATASET, "generation": 0, "first": 1, "last": 1, "kind": TURN,
        "session": "s", "order": number, "speaker": speaker, "role": "", "language": "en", "previous": [],
        "tokens": "", "seq": number,
    }  # fmt: skip
    return Row(f"00000000-0000-4000-8000-{number:012x}", payload, UNIT, ([1], [1.0]), ([], []))


class CountingShard(Shard):
    """Counts the points that a nomination had to wait for."""

    waited_for = 0

    def _read(self, ids: Sequence[str]) -> list[KnownPoint]:
        self.waited_for += len(ids)
        return super()._read(ids)


def test_what_was_learned_is_nominated_without_reading_and_learned_anew_after_an_erase(tmp_path: Path) -> None:
    shard = CountingShard(tmp_path / "shard", 4)
    shard.upsert([a_row(number) for number in range(5)], 5)

    assert [shard.learn(2), shard.learn(2), shard.learn(2), shard.learn(2)] == [True, True, False, False]
    assert len(shard.nominate([ARM], WHERE, [DATASET]).ids) == 5
    assert shard.waited_for == 0

    shard.upsert([a_row(1, "Grace")], 6)
    assert shard.nominate([ARM], WHERE, [DATASET]).speakers == ("Ada", "Grace", "Ada", "Ada", "Ada")
    assert shard.waited_for == 1

    shard.erase([[("equals", "seq", 1)]], False)
    assert shard.learn(10) is False
    assert len(shard.nominate([ARM], WHERE, [DATASET]).ids) == 4
    assert shard.waited_for == 1
    shard.close()


def test_no_more_is_learned_than_may_be_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dormouse.adapters.vector_store.edge_known.MAX_KNOWN", 3)
    shard = CountingShard(tmp_path / "shard", 4)
    shard.upsert([a_row(number) for number in range(9)], 9)

    assert [shard.learn(2), shard.learn(2)] == [True, False]
    shard.close()
