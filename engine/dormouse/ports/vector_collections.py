"""The vectors' collections: the one that answers, and the one that is filled beside it. Source: writes §7."""

from collections.abc import Mapping
from typing import Protocol

from dormouse.ids import DatasetId
from dormouse.model.scope import Scope
from dormouse.model.workspace import Collection
from dormouse.ports.catalog.terms import TermCounts
from dormouse.ports.vector_store import VectorStore
from dormouse.ports.vector_upkeep import VectorUpkeep


class WholeVectors(VectorStore, VectorUpkeep, Protocol):
    """A collection with everything that can be done to it."""


class VectorCollections(Protocol):
    """Which collection answers, and the one that is filled beside it to take its place.

    Whoever holds the active one as a `VectorStore` notices nothing of a switch. Erasures reach both.
    """

    @property
    def active(self) -> WholeVectors:
        """That one alone; erasing there does not reach the other."""
        ...

    @property
    def building(self) -> WholeVectors | None: ...

    async def build(self, collection: Collection, *, must_exist: bool = False) -> None:
        """Make an empty one, or (`must_exist`) open the one that was begun.

        Raises `MisconfiguredError` when that one is damaged or lost.
        """
        ...

    async def tally(self, scope: Scope) -> Mapping[tuple[DatasetId, int], TermCounts]:
        """The terms of what is readable and not hidden in the one being built, by dataset and generation."""
        ...

    async def switch(self) -> None:
        """The built one answers from now on, in every call that begins later; the former's files go."""
        ...

    async def abandon(self) -> None:
        """The one being built goes, with its files."""
        ...
