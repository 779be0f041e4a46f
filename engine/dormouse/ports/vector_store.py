"""The vectors: nominates passages for a query, inside the caller's readable datasets only.

Filters lie inside every arm, so that a point that may not be read never takes a place, shifts a score or
breaks a tie. Every vector is checked to be finite before it is stored or asked with. The store keeps no
text. Rows of a higher change number are never replaced. Source: retrieval, "Indexed units".
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from dormouse.ids import PassageId, TermId
from dormouse.model.change import Erasure
from dormouse.model.passage import WINDOW_BEFORE, Nominee, Point
from dormouse.model.scope import Fence, Scope
from dormouse.model.workspace import Collection as VectorCollection


@dataclass(frozen=True, slots=True)
class DenseArm:
    """Nearest by cosine over the pooled vectors; exact over the readable points."""

    vector: NDArray[np.float32]
    limit: int = 100


@dataclass(frozen=True, slots=True)
class TermArm:
    """Dot product of query weights (document frequency already in) with the stored term weights."""

    weights: Mapping[TermId, float]
    of_window: bool = False
    limit: int = 100


@dataclass(frozen=True, slots=True)
class PointFilter:
    """Beyond the scope: `occurred` is half-open in milliseconds and drops points without a time."""

    occurred: tuple[int, int] | None = None
    sessions: Collection[str] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Nomination:
    """The union of what the arms named, and all that scoring it needs, in columns: hundreds come at once.

    A row is a passage: the candidates by id, then by id those readable ones before a candidate that is a turn
    which are none themselves. `scores` are what each arm, in the order asked, gives each row (0 where nothing
    matches; terms score candidates only). `sizes` are bytes of each row in `tokens`, which are as in
    `PassageVectors`. The other columns have the candidates' rows only; `previous` are the rows of the passages
    before it, nearest first, and -1 for none; of one that `is_derived`, what it was derived from.
    """

    passages: Sequence[PassageId]
    scores: Sequence[NDArray[np.float32]]
    sizes: NDArray[np.int32]
    tokens: bytes
    is_turn: NDArray[np.bool_]
    previous: NDArray[np.int32]
    speakers: Sequence[str]
    roles: Sequence[str]
    occurred_ms: Sequence[int | None]
    is_derived: NDArray[np.bool_]

    @classmethod
    def nothing(cls, arms: int = 0) -> Self:
        empty = np.zeros(0, dtype=np.int32)
        scores = [np.zeros(0, dtype=np.float32)] * arms
        none = empty > 0
        return cls((), scores, empty, b"", none, empty.reshape(0, WINDOW_BEFORE), (), (), (), none)

    @property
    def candidates(self) -> Sequence[PassageId]:
        return self.passages[: len(self.is_turn)]


@dataclass(frozen=True, slots=True)
class VectorFootprint:
    """What lies on disk, in bytes: the segments with their indexes, and the write-ahead log."""

    points: int
    segments_bytes: int
    log_bytes: int


class VectorStore(Protocol):
    async def open(self, collection: VectorCollection, *, must_exist: bool = False) -> None:
        """Make or open the collection; never make it where `must_exist`.

        Raises `MisconfiguredError` when its model or dimension differs, or it is damaged or lost.
        """
        ...

    async def upsert(self, scope: Scope, fence: Fence, points: Sequence[Point]) -> None:
        """Whole points, visible and durable on return; a NaN or infinity refuses the call."""
        ...

    async def erase(
        self,
        scope: Scope,
        fence: Fence,
        what: Erasure,
        *,
        also: Sequence[Erasure] = (),
        is_forgetting: bool = True,
    ) -> None:
        """By filter; on return no query, retrieval or file holds what was removed.

        `also` are erasures that wait for their own turn: cleaning the files once serves them too. What is
        merely replaced (not `is_forgetting`) is gone for queries, and from the files with the next cleaning.
        """
        ...

    async def search(
        self, scope: Scope, arms: Sequence[DenseArm | TermArm], where: PointFilter
    ) -> Sequence[Sequence[Nominee]]:
        """All arms in one call, each ordered by score and then id; ties at the limit break by id."""
        ...

    async def nominate(
        self, scope: Scope, arms: Sequence[DenseArm | TermArm], where: PointFilter
    ) -> Nomination:
        """What `search` finds, and all that scoring it needs: a recall waits for one answer only."""
        ...

    async def count(self, scope: Scope, what: Erasure | None = None) -> int:
        """Exact, of everything readable or of what an erasure would remove."""
        ...

    async def optimise(self) -> VectorFootprint:
        """Merge segments and build indexes; searches go on, at worst after waiting for one such step."""
        ...

    async def close(self) -> None: ...
