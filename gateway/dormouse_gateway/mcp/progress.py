"""A sign of life at least every fifteen seconds, for callers that gave a progress token.

Progress has to grow with every message, so its number counts messages; what was done stands in the words.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

HEARTBEAT_S = 10.0  # promised is 15 s; a late timer must not break the promise

Send = Callable[[float, str], Awaitable[None]]


class ProgressReporter:
    """Numbers the messages, and repeats the last one while there is nothing new to say."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._sent = 0
        self._latest = "working"
        self._said = asyncio.Event()

    async def report(self, message: str) -> None:
        self._latest = message
        self._said.set()
        await self._emit()

    @asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """While the block runs, no silence is longer than HEARTBEAT_S; its own errors leave as they are."""
        try:
            async with asyncio.TaskGroup() as group:
                beat = group.create_task(self._beat(), name="progress heartbeat")
                try:
                    yield
                finally:
                    beat.cancel()
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None

    async def _beat(self) -> None:
        while True:
            self._said.clear()
            try:
                async with asyncio.timeout(HEARTBEAT_S):
                    await self._said.wait()
            except TimeoutError:
                await self._emit()

    async def _emit(self) -> None:
        self._sent += 1
        await self._send(float(self._sent), self._latest)
