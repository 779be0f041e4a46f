"""Which topics are there: one that is missing is waited for, and holds up nothing that needs another.

Nobody names a topic to the client library before it is known to be there: the library then waits for it with
all else that it was asked, and some brokers make what is named, with as many partitions as they please.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

import structlog

from dormouse.adapters.message_bus.back_off import BackOff
from dormouse.adapters.message_bus.kafka_connection import KafkaConnection
from dormouse.adapters.message_bus.kafka_topics import missing, too_few, wanted
from dormouse.errors import MisconfiguredError, UnavailableError

FIRST_LOOKS, FIRST_LOOK_S = 6, 0.5
LOOK_AGAIN_S = 5.0  # at the longest, while one is missing

log = structlog.get_logger()


class TopicWatch:
    """Looks until all are there, and again when one is doubted."""

    def __init__(self, connection: KafkaConnection) -> None:
        self._connection = connection
        self._topics = {topic.name: topic for topic in wanted(connection.settings)}
        self._there = {name: asyncio.Event() for name in self._topics}
        self._doubted = asyncio.Event()
        self._missing: list[str] = []
        self._told: list[str] = []

    def is_there(self, topic: str) -> bool:
        """As far as is known."""
        return self._there[topic].is_set()

    def is_missing(self, topic: str) -> bool:
        """Brokers answered, and it was not among their topics."""
        return topic in self._missing

    async def until_there(self, topic: str) -> None:
        await self._there[topic].wait()

    def doubt(self, topic: str) -> None:
        """It did not answer as one that is there does."""
        self._there[topic].clear()
        self._doubted.set()

    async def run(self) -> None:
        """Until cancelled. Raises `MisconfiguredError` for what is wrong from the beginning: once brokers
        answered and some topic was there, trouble is waited out, since whoever made it ends it."""
        back_off, missing_off = BackOff(), BackOff(LOOK_AGAIN_S)
        has_begun, looks = False, 0
        while True:
            self._doubted.clear()
            try:
                found = await self._connection.topics()
            except (UnavailableError, MisconfiguredError) as exc:
                if isinstance(exc, MisconfiguredError) and not has_begun:
                    raise
                log.warning("bus_unreachable", reason=str(exc))
                await asyncio.sleep(back_off.next_s())
                continue
            back_off.restart()
            if not (has_begun or self._topics.keys() & found.keys()) and looks < FIRST_LOOKS:
                # Brokers hear a moment later than whoever made them that there are topics.
                looks += 1
                await asyncio.sleep(FIRST_LOOK_S)
                continue
            self._note(found, is_first=not has_begun)
            has_begun = True
            if not self._missing:
                missing_off.restart()
            with suppress(TimeoutError):
                async with asyncio.timeout(missing_off.next_s() if self._missing else None):
                    await self._doubted.wait()

    def _note(self, found: Mapping[str, int], *, is_first: bool) -> None:
        """Raises `MisconfiguredError` for an installation of which nothing was made."""
        self._missing = [name for name in self._there if name not in found]
        if is_first and len(self._missing) == len(self._there):
            raise missing(self._missing[0])
        for name, there in self._there.items():
            if name in found:
                there.set()
            else:
                there.clear()
        self._tell([str(missing(name)) for name in self._missing], found)

    def _tell(self, reasons: list[str], found: Mapping[str, int]) -> None:
        """Each once, until it is mended: a smaller topic works as well, for fewer workers."""
        for name, topic in self._topics.items():
            if name in found and found[name] < topic.partitions:
                reasons.append(too_few(topic, found[name]))
        for reason in reasons:
            if reason not in self._told:
                log.warning("topic_differs", reason=reason)
        self._told = reasons
