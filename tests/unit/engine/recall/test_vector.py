from collections.abc import Sequence
from typing import cast

from dormouse.ids import PassageId, TermId
from dormouse.model.passage import Nominee
from dormouse.model.scope import Scope
from dormouse.ports.vector_store import DenseArm, PointFilter, TermArm, VectorStore
from dormouse.recall.vector import gather_scores
from tests.builders import a_scope


class Found:
    """A store in which every search ends like this."""

    def __init__(self, *hits: Sequence[tuple[str, float]]) -> None:
        self._hits = hits

    async def search(
        self,
        scope: Scope,
        arms: Sequence[DenseArm | TermArm],
        where: PointFilter,
    ) -> Sequence[Sequence[Nominee]]:
        return [[Nominee(PassageId(name), score) for name, score in hits] for hits in self._hits]


async def test_scores_of_several_arms_come_in_columns_by_id_with_nothing_else() -> None:
    store = cast("VectorStore", Found([("b", 2.0), ("a", 1.0)], [("c", 0.5)]))
    arms = {"terms": TermArm({TermId(1): 1.0}), "terms_window": TermArm({TermId(1): 1.0}, of_window=True)}

    evidence = await gather_scores(store, a_scope(), arms, PointFilter())

    assert list(evidence.named.candidates) == ["a", "b", "c"]
    assert {name: column.tolist() for name, column in evidence.arms.items()} == {
        "terms": [1.0, 2.0, 0.0],
        "terms_window": [0.0, 0.0, 0.5],
    }
    assert evidence.named.tokens == b""
