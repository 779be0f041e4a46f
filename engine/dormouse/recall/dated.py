"""What was said in the time that a question names takes part, however many others are nearer by words. Pure.

Each arm names its best of all times and its best of that time; here the two nominations become one.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from dormouse.ids import PassageId
from dormouse.model.interval import Interval
from dormouse.ports.vector_store import Nomination
from dormouse.recall.understand import Understanding

MAX_SPANS = 2  # nominated for, each at the price of another nomination; a question hardly names more


def spans_of(understanding: Understanding) -> Sequence[Interval]:
    """Without repeats, in the order named."""
    return list(dict.fromkeys(span.interval for span in understanding.dates))[:MAX_SPANS]


def merged(one: Nomination, other: Nomination) -> Nomination:
    """The candidates of both, and what comes before any of them; both are answers to the same arms."""
    candidates: dict[PassageId, tuple[Nomination, int]] = {}
    before: dict[PassageId, tuple[Nomination, int]] = {}
    for named in (one, other):
        for row, passage in enumerate(named.passages):
            (candidates if row < len(named.candidates) else before).setdefault(passage, (named, row))
    chosen = [(passage, *candidates[passage]) for passage in sorted(candidates)]
    rows = chosen + [(passage, *before[passage]) for passage in sorted(before) if passage not in candidates]
    place = {passage: number for number, (passage, _, _) in enumerate(rows)}
    tokens = {id(named): _tokens(named) for named in (one, other)}
    return Nomination(
        passages=list(place),
        scores=[
            np.array([named.scores[arm][row] for _, named, row in rows], dtype=np.float32)
            for arm in range(len(one.scores))
        ],
        sizes=np.array([named.sizes[row] for _, named, row in rows], dtype=np.int32),
        tokens=b"".join([tokens[id(named)][row] for _, named, row in rows]),
        is_turn=np.array([named.is_turn[row] for _, named, row in chosen], dtype=bool),
        previous=np.array(
            [[_placed(named, each, place) for each in named.previous[row]] for _, named, row in chosen],
            dtype=np.int32,
        ).reshape(len(chosen), one.previous.shape[1]),
        speakers=[named.speakers[row] for _, named, row in chosen],
        roles=[named.roles[row] for _, named, row in chosen],
        occurred_ms=[named.occurred_ms[row] for _, named, row in chosen],
        is_derived=np.array([named.is_derived[row] for _, named, row in chosen], dtype=bool),
    )


def _tokens(named: Nomination) -> list[bytes]:
    ends = accumulate(named.sizes.tolist(), initial=0)
    return [named.tokens[start:end] for start, end in pairwise(ends)]


def _placed(named: Nomination, row: int, place: dict[PassageId, int]) -> int:
    return place[named.passages[row]] if row >= 0 else -1
