"""The loops of one process: extraction, applying, sweeping, and keeping the vectors in good order.

Leaving the block stops taking up work, lets what is under way finish its step, and releases the leases; what
is left undone is taken up again by the next process.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager

import structlog

from dormouse.errors import UnavailableError
from dormouse.ids import WorkspaceId
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.vector_store import VectorStore

LOOK_EVERY_S = 30.0
QUIET_LOOKS = 2  # merging segments competes with writes for two cores: only after a quiet minute

log = structlog.get_logger()


class Upkeep:
    """Optimises the vectors once writes have paused, and not again until there were new ones."""

    def __init__(self, catalog: Catalog, vectors: VectorStore, workspace: WorkspaceId) -> None:
        self._catalog, self._vectors, self._workspace = catalog, vectors, workspace

    async def run(self) -> None:
        seen, quiet = await self._applied(), QUIET_LOOKS + 1
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                applied = await self._applied()
                quiet = quiet + 1 if applied == seen else 0
                seen = applied
                if quiet == QUIET_LOOKS:
                    await self._vectors.optimise()
            except UnavailableError as exc:
                log.warning("upkeep_failed", code=exc.code)

    async def _applied(self) -> int:
        async with self._catalog.reading() as tx:
            return await tx.past.highest_applied(self._workspace)


class Loops:
    """By name; one may end by itself."""

    def __init__(self, loops: Mapping[str, Callable[[], Coroutine[None, None, None]]]) -> None:
        self._loops = dict(loops)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run(), name=name) for name, run in self._loops.items()]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
