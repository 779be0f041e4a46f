"""Records on their way to one topic: whoever rings never waits, and what was not acknowledged is sent again.

Bells that wait are kept once each. When too many wait, new ones are dropped: the sweeper rings again. Each
topic has a client of its own, since one that lost a topic waits for it with all that it was given.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import structlog
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from dormouse.adapters.message_bus.back_off import BackOff
from dormouse.adapters.message_bus.kafka_connection import CALL_MS, KafkaConnection
from dormouse.adapters.message_bus.kafka_record import Bell, DeadLetter, written
from dormouse.adapters.message_bus.kafka_watch import TopicWatch

MOST_WAITING = 10_000
AT_ONCE = 500
CLOSE_S = 5.0

Message = Bell | DeadLetter

log = structlog.get_logger()


class KafkaOutbox:
    def __init__(self, connection: KafkaConnection, topic: str, watch: TopicWatch) -> None:
        self._connection, self._topic, self._watch = connection, topic, watch
        self._waiting: dict[Message, Mapping[str, str]] = {}
        self._sending = 0
        self._has_some, self._is_empty = asyncio.Event(), asyncio.Event()
        self._is_empty.set()

    @property
    def unsent(self) -> int:
        return len(self._waiting) + self._sending

    def put(self, message: Message, headers: Mapping[str, str]) -> None:
        """`headers` carry the trace that it belongs to."""
        if message in self._waiting or len(self._waiting) >= MOST_WAITING:
            return
        self._waiting[message] = headers
        self._is_empty.clear()
        self._has_some.set()

    async def emptied(self, within_s: float) -> bool:
        """Whether all is acknowledged by then. Not waited for while the topic is missing."""
        if self._watch.is_missing(self._topic):
            return self._is_empty.is_set()
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._is_empty.wait()
        return self._is_empty.is_set()

    async def run(self) -> None:
        """Until cancelled."""
        back_off = BackOff()
        while True:
            await self._watch.until_there(self._topic)
            await self._has_some.wait()
            try:
                async with self._producer() as producer:
                    await self._send_all(producer, back_off.restart)
            except (KafkaError, OSError, TimeoutError) as exc:
                log.warning("bells_unsent", topic=self._topic, error=type(exc).__name__, waiting=self.unsent)
                self._watch.doubt(self._topic)
            await asyncio.sleep(back_off.next_s())

    @asynccontextmanager
    async def _producer(self) -> AsyncIterator[AIOKafkaProducer]:
        producer = AIOKafkaProducer(**self._connection.options, enable_idempotence=True, acks="all")
        try:
            async with asyncio.timeout(2 * CALL_MS / 1000):  # it waits for its number however long
                await producer.start()
            yield producer
        finally:
            with suppress(KafkaError, OSError, TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await producer.stop()

    async def _send_all(self, producer: AIOKafkaProducer, has_worked: Callable[[], None]) -> None:
        while True:
            await self._has_some.wait()
            taken = {message: self._waiting[message] for message in list(self._waiting)[:AT_ONCE]}
            # Out before they are sent: what rings meanwhile may mean more than what is on its way.
            for message in taken:
                del self._waiting[message]
            self._sending = len(taken)
            is_sent = False
            try:
                await self._send(producer, list(taken.items()))
                is_sent = True
            finally:
                self._sending = 0
                if not is_sent:
                    self._waiting = {**taken, **self._waiting}
                self._note_rest()
            has_worked()

    async def _send(
        self, producer: AIOKafkaProducer, messages: Sequence[tuple[Message, Mapping[str, str]]]
    ) -> None:
        """Until all are acknowledged. Raises what the first that fails does."""
        async with asyncio.timeout(2 * CALL_MS / 1000):
            promised = [await self._promised(producer, message, headers) for message, headers in messages]
            await asyncio.wait(promised)
        for each in promised:
            each.result()

    async def _promised(
        self, producer: AIOKafkaProducer, message: Message, headers: Mapping[str, str]
    ) -> asyncio.Future[Any]:
        promised: asyncio.Future[Any] = await producer.send(
            self._topic,
            written(message),
            key=message.key,
            headers=[(name, value.encode()) for name, value in headers.items()],
        )
        # Else one that fails after another did is told as never looked at.
        promised.add_done_callback(lambda done: done.cancelled() or done.exception())
        return promised

    def _note_rest(self) -> None:
        if self._waiting:
            self._has_some.set()
            self._is_empty.clear()
        else:
            self._has_some.clear()
            self._is_empty.set()
