"""Collections of the edge engine: each is a folder with a process of its own."""

import asyncio
import shutil
from collections.abc import Collection as Some
from pathlib import Path

from dormouse.adapters.vector_store.active_and_building import ActiveAndBuilding
from dormouse.adapters.vector_store.admission import plain_name
from dormouse.adapters.vector_store.qdrant_edge import QdrantEdgeVectorStore
from dormouse.model.workspace import Collection


class EdgeCollections(ActiveAndBuilding[QdrantEdgeVectorStore]):
    """`folder` holds one folder per collection."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        super().__init__()

    async def reached(self) -> int | None:
        """Up to which change the active one holds everything; None where it is stood in for."""
        return None if self._is_lost else await self._active.store.reached()

    async def built_through(self) -> int:
        """The same of the one being built."""
        return await self._building.store.reached() if self._building else 0

    def _made(self) -> QdrantEdgeVectorStore:
        return QdrantEdgeVectorStore(self._folder)

    async def _let_answer(self, store: QdrantEdgeVectorStore, collection: Collection) -> None:
        """There are no other processes, and ours asks whichever is the active one."""

    async def _remove(self, name: str) -> None:
        await asyncio.to_thread(shutil.rmtree, self._folder / plain_name(name), ignore_errors=True)

    async def _remove_others(self, kept: Some[str]) -> None:
        await asyncio.to_thread(_remove_others, self._folder, set(map(plain_name, kept)))


def _remove_others(folder: Path, kept: set[str]) -> None:
    if folder.is_dir():
        for path in folder.iterdir():
            if path.name not in kept:
                shutil.rmtree(path, ignore_errors=True)
