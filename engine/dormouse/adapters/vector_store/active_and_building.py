"""The collection that answers and the one that is built beside it, as one store.

Erasing reaches both: what is forgotten while another collection is built must not be found in it later. A
collection that is lost may be stood in for until a rebuild has made another: what is written then is not lost,
because the rebuild follows every change. Source: writes §7.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection as Some
from collections.abc import Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from dormouse.errors import StoreUnavailableError
from dormouse.ids import DatasetId, DocumentId, PassageId
from dormouse.model.change import Erasure
from dormouse.model.passage import Nominee, Point
from dormouse.model.scope import Fence, Scope
from dormouse.model.workspace import Collection
from dormouse.ports.catalog.terms import TermCounts
from dormouse.ports.vector_collections import WholeVectors
from dormouse.ports.vector_store import DenseArm, Nomination, PointFilter, TermArm, VectorFootprint
from dormouse.ports.vector_upkeep import PointMark

_RETRY_AFTER_S = 5


class CountingVectors(WholeVectors, Protocol):
    async def tally(self, scope: Scope) -> Mapping[tuple[DatasetId, int], TermCounts]: ...


Store = TypeVar("Store", bound=CountingVectors)


class ActiveAndBuilding(ABC, Generic[Store]):
    """`open` or `stand_in` comes before anything else."""

    def __init__(self) -> None:
        self._active = _Part(self._made(), Collection("", "", 0))
        self._building: _Part[Store] | None = None
        self._is_lost = False

    async def open(self, collection: Collection, *, must_exist: bool = False) -> None:
        await self._active.store.open(collection, must_exist=must_exist)
        await self._let_answer(self._active.store, collection)
        self._active.collection = collection
        self._is_lost = False

    def stand_in(self, collection: Collection) -> None:
        """For an active collection that is lost: nothing is written to it and no search is answered."""
        self._active.collection = collection
        self._is_lost = True

    @property
    def active(self) -> WholeVectors:
        return self._active.store

    @property
    def building(self) -> WholeVectors | None:
        return self._building.store if self._building else None

    async def build(self, collection: Collection, *, must_exist: bool = False) -> None:
        await self._close_building()
        if not must_exist:
            await self._remove(collection.name)
        part = _Part(self._made(), collection)
        await part.store.open(collection, must_exist=must_exist)
        self._building = part

    async def tally(self, scope: Scope) -> Mapping[tuple[DatasetId, int], TermCounts]:
        if self._building is None:
            raise StoreUnavailableError(port="vector")
        return await self._building.store.tally(scope)

    async def switch(self) -> None:
        assert self._building is not None, "only what was built can answer"
        former, self._active = self._active, self._building
        self._building, self._is_lost = None, False
        await self._let_answer(self._active.store, self._active.collection)
        await former.store.close()  # after the calls that it was asked already
        await self._remove(former.collection.name)

    async def abandon(self) -> None:
        if self._building is not None:
            name = self._building.collection.name
            await self._close_building()
            await self._remove(name)

    async def tidy(self, kept: Some[str]) -> None:
        """Remove collections of other names: a crash right after a switch leaves one."""
        await self._remove_others(kept)

    async def upsert(self, scope: Scope, fence: Fence, points: Sequence[Point]) -> None:
        if not self._is_lost:
            await self._active.store.upsert(scope, fence, points)

    async def erase(
        self,
        scope: Scope,
        fence: Fence,
        what: Erasure,
        *,
        also: Sequence[Erasure] = (),
        is_forgetting: bool = True,
    ) -> None:
        for store in self._present():
            await store.erase(scope, fence, what, also=also, is_forgetting=is_forgetting)

    async def search(
        self, scope: Scope, arms: Sequence[DenseArm | TermArm], where: PointFilter
    ) -> Sequence[Sequence[Nominee]]:
        return await self._answering().search(scope, arms, where)

    async def nominate(
        self, scope: Scope, arms: Sequence[DenseArm | TermArm], where: PointFilter
    ) -> Nomination:
        return await self._answering().nominate(scope, arms, where)

    async def count(self, scope: Scope, what: Erasure | None = None) -> int:
        """Of what an erasure would remove: everywhere; else of what answers."""
        if what is None:
            return 0 if self._is_lost else await self._active.store.count(scope)
        return sum([await store.count(scope, what) for store in self._present()])

    async def points(self, scope: Scope, ids: Some[PassageId]) -> Sequence[Point]:
        return await self._answering().points(scope, ids)

    async def marks_after(
        self, scope: Scope, after: PassageId | None, limit: int, *, document: DocumentId | None = None
    ) -> Sequence[PointMark]:
        return await self._answering().marks_after(scope, after, limit, document=document)

    async def hide(self, scope: Scope, fence: Fence, what: Erasure, *, is_hidden: bool) -> None:
        for store in self._present():
            await store.hide(scope, fence, what, is_hidden=is_hidden)

    async def drop(self, scope: Scope, fence: Fence, ids: Some[PassageId]) -> None:
        for store in self._present():
            await store.drop(scope, fence, ids)

    async def optimise(self) -> VectorFootprint:
        return await self._answering().optimise()

    async def close(self) -> None:
        await self._close_building()
        await self._active.store.close()

    @abstractmethod
    def _made(self) -> Store:
        """Another one, not open."""

    @abstractmethod
    async def _let_answer(self, store: Store, collection: Collection) -> None:
        """It is the active one from now on, for other processes too."""

    @abstractmethod
    async def _remove(self, name: str) -> None:
        """The collection with all that it left; none of that name is no error."""

    @abstractmethod
    async def _remove_others(self, kept: Some[str]) -> None: ...

    def _answering(self) -> Store:
        if self._is_lost:
            raise StoreUnavailableError(port="vector", retry_after_s=_RETRY_AFTER_S, is_rebuilt=True)
        return self._active.store

    def _present(self) -> list[Store]:
        active = [] if self._is_lost else [self._active.store]
        return [*active, *([self._building.store] if self._building else [])]

    async def _close_building(self) -> None:
        part, self._building = self._building, None
        if part is not None:
            await part.store.close()


class _Part(Generic[Store]):
    def __init__(self, store: Store, collection: Collection) -> None:
        self.store, self.collection = store, collection
