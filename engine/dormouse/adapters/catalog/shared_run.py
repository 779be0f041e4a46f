"""One run for all who ask for it meanwhile, each of whom gets one that began after they asked."""

import asyncio
from collections.abc import Awaitable, Callable


class SharedRun:
    """Of work that takes long, and that does once as much good as many times."""

    def __init__(self, work: Callable[[], Awaitable[None]]) -> None:
        self._work = work
        self._turn = asyncio.Lock()
        self._begun = self._ended = 0  # the number of the last run that did

    async def once_from_now(self) -> None:
        """Raises what the work does; then the next one who waits runs it anew."""
        last = self._begun
        async with self._turn:
            if self._ended > last:
                return
            self._begun += 1
            await self._work()
            self._ended = self._begun
