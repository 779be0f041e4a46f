"""Who is at work right now, so that an ending process can wait for them and for nobody else."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

DRAIN_S = 12.0  # a store call takes ten at most


class Busy:
    """Counts blocks that run. Once `drain` was asked for, nobody should begin another one."""

    def __init__(self) -> None:
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self.is_draining = False

    @contextmanager
    def working(self) -> Iterator[None]:
        self._running += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()

    async def drain(self, budget_s: float = DRAIN_S) -> None:
        """Wait until nobody works, or until the budget ends."""
        self.is_draining = True
        with suppress(TimeoutError):
            async with asyncio.timeout(budget_s):
                await self._idle.wait()


async def until_cancelled(busy: Busy) -> None:
    """Sleep until the surrounding task is cancelled, then let those at work finish their step first."""
    try:
        await asyncio.Event().wait()
    finally:
        await busy.drain()
