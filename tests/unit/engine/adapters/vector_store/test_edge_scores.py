import struct
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.adapters.vector_store.edge_known import KnownPoint
from dormouse.adapters.vector_store.edge_scores import column
from dormouse.adapters.vector_store.rows import DENSE, TERMS, TURN, WINDOW, Arm

Weights = Mapping[int, float]
SOME_WEIGHTS = st.dictionaries(st.integers(0, 2**32 - 1) | st.integers(0, 5), st.floats(0.125, 8, width=32))


def a_point(dense: tuple[float, ...] = (1.0, 0.0), terms: Weights = {}, window: Weights = {}) -> KnownPoint:  # noqa: B006 read only
    packed = [
        (
            struct.pack(f"<{len(each)}I", *sorted(each)),
            struct.pack(f"<{len(each)}f", *(each[term] for term in sorted(each))),
        )
        for each in (terms, window)
    ]
    return KnownPoint(
        "id", "mine", TURN, "", "", None, (), b"", struct.pack(f"<{len(dense)}f", *dense), *packed
    )


def scores(arm: Arm, *points: KnownPoint) -> list[float]:
    return list(map(float, np.frombuffer(column(arm, points), dtype=np.float32)))


def test_a_dense_arm_gives_the_cosine_whatever_the_length_of_the_query() -> None:
    arm = Arm(DENSE, np.array([3.0, 4.0], dtype=np.float32).tobytes(), 10)

    assert scores(arm, a_point((1.0, 0.0)), a_point((0.0, -1.0))) == pytest.approx([0.6, -0.8], abs=1e-3)


def test_a_term_arm_looks_into_its_own_terms() -> None:
    point = a_point(terms={7: 2.0}, window={7: 3.0, 9: 1.0})

    assert scores(Arm(TERMS, ([7, 9], [1.0, 0.5]), 10), point) == [2.0]
    assert scores(Arm(WINDOW, ([7, 9], [1.0, 0.5]), 10), point) == [3.5]


@given(SOME_WEIGHTS.filter(bool), st.lists(SOME_WEIGHTS, min_size=1, max_size=6))
def test_a_term_arm_gives_the_product_of_the_weights_of_shared_terms(
    asked: Weights, rows: list[Weights]
) -> None:
    arm = Arm(TERMS, (sorted(asked), [asked[term] for term in sorted(asked)]), 10)
    expected = [sum(weight * row.get(term, 0.0) for term, weight in asked.items()) for row in rows]

    assert scores(arm, *(a_point(terms=row) for row in rows)) == pytest.approx(expected, rel=1e-5)


def test_no_points_have_no_scores() -> None:
    arms = [Arm(TERMS, ([7], [1.0]), 10), Arm(DENSE, np.ones(2, dtype=np.float32).tobytes(), 10)]

    assert [scores(arm) for arm in arms] == [[], []]
