"""Where a limit cuts through equal scores: an engine draws lots, we take those first by id.

So more are asked for than are wanted, and again more while the last of them still has the score of the limit.
"""

from collections.abc import Sequence
from typing import Protocol

from dormouse.adapters.vector_store.rows import DENSE, Arm

# Words give equal scores to many, and the limit mostly cuts through some of them: twice the limit settles three
# searches in four at once, and costs less than asking the others again.
TIE_GROWTH = 2
MAX_ASKED = 20_000  # bounds that growth; beyond it ties at the limit fall as the engine has them


class Hit(Protocol):
    @property
    def score(self) -> float: ...


def first_asked(arm: Arm) -> int:
    return arm.limit + (1 if arm.name == DENSE else arm.limit)


def is_cut_in_a_tie(hits: Sequence[Hit], limit: int, asked: int) -> bool:
    """More may lie behind the last hit with the same score as the one at the limit."""
    return len(hits) == asked and asked < MAX_ASKED and hits[limit - 1].score == hits[-1].score
