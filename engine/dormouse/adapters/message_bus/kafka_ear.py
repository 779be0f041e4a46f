"""Who listens to a topic: it polls, hands on, commits, and does no work in between.

A consumer of the client library can stop fetching and go on answering polls with nothing. So what was fetched
last is looked at with every poll, and a consumer that fetches nothing at all, not even emptiness, is made anew.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRecord
from aiokafka.errors import (
    CommitFailedError,
    IllegalStateError,
    KafkaError,
    UnknownTopicOrPartitionError,
)

from dormouse.adapters.message_bus.back_off import BackOff
from dormouse.adapters.message_bus.kafka_connection import KafkaConnection
from dormouse.adapters.message_bus.kafka_watch import TopicWatch

POLL_S = 1.0
AT_ONCE = 500
STUCK_S = 60.0  # a poll, while the group shares its partitions out
SILENT_S = 60.0  # a fetch answers within half a second, with nothing if need be
START_S = 60.0
CLOSE_S = 5.0

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Hearing:
    """How one topic is listened to, for a health check.

    `turned_s` is how long ago it polled or tried to connect, nothing while the topic is waited for; `fetched_s`
    how long ago a fetch of any partition was answered, None without partitions, as all but the first may be, or
    while not connected.
    """

    topic: str
    is_connected: bool
    partitions: int
    turned_s: float
    fetched_s: float | None

    @property
    def is_alive(self) -> bool:
        """A broker that is away is no reason to end the process: it goes on trying. Nor is a consumer that
        fetches nothing, unless making it anew does not help."""
        is_turning = self.turned_s < STUCK_S + START_S
        return is_turning and (self.fetched_s is None or self.fetched_s < 2 * SILENT_S)


class _SilentError(TimeoutError):
    """The consumer polls and fetches nothing."""


class KafkaEar:
    def __init__(
        self,
        connection: KafkaConnection,
        topic: str,
        watch: TopicWatch,
        hear: Callable[[Sequence[ConsumerRecord]], Awaitable[None]],
    ) -> None:
        """`hear` hands on; it never works off what a record asks for."""
        self._connection, self._topic, self._watch, self._hear = connection, topic, watch, hear
        self._back_off = BackOff()
        self._wanted = asyncio.Event()
        self._consumer: AIOKafkaConsumer | None = None
        self._stamps: dict[Any, int | None] = {}
        self._turned_at = self._fetched_at = 0.0

    def want(self) -> None:
        """Somebody listens from now on: until then this process is no member of the group."""
        self._wanted.set()

    @property
    def is_wanted(self) -> bool:
        return self._wanted.is_set()

    def hearing(self) -> Hearing | None:
        """None while nobody listens, or it did not begin to."""
        if not self.is_wanted or not self._turned_at:
            return None
        now, consumer = asyncio.get_running_loop().time(), self._consumer
        held = len(consumer.assignment()) if consumer is not None else 0
        return Hearing(
            self._topic,
            is_connected=consumer is not None,
            partitions=held,
            turned_s=now - self._turned_at if self._watch.is_there(self._topic) else 0.0,
            fetched_s=now - self._fetched_at if held else None,
        )

    async def run(self) -> None:
        """Until cancelled."""
        self._note_turn()
        await self._wanted.wait()
        while True:
            await self._watch.until_there(self._topic)
            self._note_turn()
            try:
                async with self._joined() as consumer:
                    await self._listen(consumer)
            except (KafkaError, OSError, TimeoutError) as exc:
                log.warning("bells_unheard", topic=self._topic, error=type(exc).__name__)
                self._watch.doubt(self._topic)
            await asyncio.sleep(self._back_off.next_s())

    @asynccontextmanager
    async def _joined(self) -> AsyncIterator[AIOKafkaConsumer]:
        consumer = AIOKafkaConsumer(
            self._topic,
            **self._connection.options,
            group_id=self._topic,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=45_000,
            heartbeat_interval_ms=3_000,
            rebalance_timeout_ms=30_000,
            # Nothing is done between two polls, and a member without partitions that once left for this
            # reason could not come back.
            max_poll_interval_ms=2**31 - 1,
        )
        try:
            async with asyncio.timeout(START_S):
                await consumer.start()
            self._consumer, self._stamps = consumer, {}
            self._note_fetch()
            yield consumer
        finally:
            self._consumer = None
            with suppress(KafkaError, OSError, TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await consumer.stop()

    async def _listen(self, consumer: AIOKafkaConsumer) -> None:
        while True:
            async with asyncio.timeout(STUCK_S):
                found = await consumer.getmany(timeout_ms=int(POLL_S * 1000), max_records=AT_ONCE)
            self._note_turn()
            self._look_at_fetches(consumer)
            self._back_off.restart()
            records = [record for batch in found.values() for record in batch]
            if records:
                await self._hear(records)
                await _commit(consumer)

    def _look_at_fetches(self, consumer: AIOKafkaConsumer) -> None:
        """Raises `_SilentError`, and `UnknownTopicOrPartitionError` once the topic was deleted. One partition
        of several may have no leader: that is not the consumer's."""
        if not consumer.partitions_for_topic(self._topic):
            raise UnknownTopicOrPartitionError(self._topic)
        stamps = {each: consumer.last_poll_timestamp(each) for each in consumer.assignment()}
        if stamps != self._stamps or not stamps:
            self._stamps = stamps
            self._note_fetch()
        elif asyncio.get_running_loop().time() - self._fetched_at > SILENT_S:
            raise _SilentError

    def _note_turn(self) -> None:
        self._turned_at = asyncio.get_running_loop().time()

    def _note_fetch(self) -> None:
        self._fetched_at = asyncio.get_running_loop().time()


async def _commit(consumer: AIOKafkaConsumer) -> None:
    """What was heard is done with. Where the partitions went to another just now, it hears them again."""
    with suppress(CommitFailedError, IllegalStateError):
        await consumer.commit()
