"""The collection that answers and the one that is built beside it, as one store.

Each is a folder with a process of its own. Erasing reaches both: what is forgotten while another collection
is built must not be found in it later. A collection whose files are lost may be stood in for until a rebuild
has made another: what is written then is not lost, because the rebuild follows every change.
Source: writes §7.
"""

import asyncio
import shutil
from collections.abc import Collection as Some
from collections.abc import Mapping, Sequence
from pathlib import Path

from dormouse.adapters.vector_store.admission import plain_name
from dormouse.adapters.vector_store.qdrant_edge import QdrantEdgeVectorStore
from dormouse.errors import StoreUnavailableError
from dormouse.ids import DatasetId, DocumentId, PassageId
from dormouse.model.change import Erasure
from dormouse.model.passage import Nominee, Point
from dormouse.model.scope import Fence, Scope
from dormouse.model.workspace import Collection
from dormouse.ports.catalog.terms import TermCounts
from dormouse.ports.vector_collections import WholeVectors
from dormouse.ports.vector_store import (
    DenseArm,
    Nomination,
    PointFilter,
    TermArm,
    VectorFootprint,
)
from dormouse.ports.vector_upkeep import PointMark

_RETRY_AFTER_S = 5


class EdgeCollections:
    """`folder` holds one folder per collection; `open` or `stand_in` comes before anything else."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._active = _Part(QdrantEdgeVectorStore(folder), "")
        self._building: _Part | None = None
        self._is_lost = False
        self._changing = asyncio.Lock()  # giving up a collection waits until its making is through

    async def open(self, collection: Collection, *, must_exist: bool = False) -> None:
        await self._active.store.open(collection, must_exist=must_exist)
        self._active.name = collection.name
        self._is_lost = False

    def stand_in(self, collection: Collection) -> None:
        """For an active collection whose files are lost: nothing is written to it and no search is answered."""
        self._active.name = collection.name
        self._is_lost = True

    @property
    def active(self) -> WholeVectors:
        return self._active.store

    @property
    def building(self) -> WholeVectors | None:
        return self._building.store if self._building else None

    async def build(self, collection: Collection, *, must_exist: bool = False) -> None:
        async with self._changing:
            await self._close_building()
            if not must_exist:
                await self._remove(collection.name)
            part = _Part(QdrantEdgeVectorStore(self._folder), collection.name)
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
        await former.store.close()  # after the calls that it was asked already
        await self._remove(former.name)

    async def abandon(self) -> None:
        async with self._changing:
            if self._building is not None:
                name = self._building.name
                await self._close_building()
                await self._remove(name)

    async def tidy(self, kept: Some[str]) -> None:
        """Remove collections of other names: a crash right after a switch leaves one."""
        kept_folders = {plain_name(name) for name in kept}
        await asyncio.to_thread(_remove_others, self._folder, kept_folders)

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

    async def reached(self) -> int | None:
        """Up to which change the active one holds everything; None where it is stood in for."""
        return None if self._is_lost else await self._active.store.reached()

    async def built_through(self) -> int:
        """The same of the one being built."""
        return await self._building.store.reached() if self._building else 0

    async def optimise(self) -> VectorFootprint:
        return await self._answering().optimise()

    async def close(self) -> None:
        await self._close_building()
        await self._active.store.close()

    def _answering(self) -> QdrantEdgeVectorStore:
        if self._is_lost:
            raise StoreUnavailableError(port="vector", retry_after_s=_RETRY_AFTER_S, is_rebuilt=True)
        return self._active.store

    def _present(self) -> list[QdrantEdgeVectorStore]:
        active = [] if self._is_lost else [self._active.store]
        return [*active, *([self._building.store] if self._building else [])]

    async def _close_building(self) -> None:
        part, self._building = self._building, None
        if part is not None:
            await part.store.close()

    async def _remove(self, name: str) -> None:
        await asyncio.to_thread(shutil.rmtree, self._folder / plain_name(name), ignore_errors=True)


class _Part:
    def __init__(self, store: QdrantEdgeVectorStore, name: str) -> None:
        self.store, self.name = store, name


def _remove_others(folder: Path, kept: set[str]) -> None:
    if folder.is_dir():
        for path in folder.iterdir():
            if path.name not in kept:
                shutil.rmtree(path, ignore_errors=True)
