"""What is in Kafka, and put into it, beside the product."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from dormouse.server_settings import KafkaSettings

PATIENCE_S = 40.0


async def until(is_so: Callable[[], bool]) -> None:
    """Looks often; a test waits for another process here, and no event of it can be had."""
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.02)


class KafkaObserver:
    def __init__(self, settings: KafkaSettings) -> None:
        self._servers = {"bootstrap_servers": settings.bootstrap_servers}
        self._prefix = settings.prefix

    async def put(self, topic: str, *values: bytes | None, partition: int | None = None) -> None:
        producer = AIOKafkaProducer(**self._servers, max_request_size=4 << 20)
        await producer.start()
        try:
            for value in values:
                await producer.send_and_wait(self._named(topic), value, key=b"key", partition=partition)
        finally:
            await producer.stop()

    async def records(self, topic: str, count: int) -> Sequence[Any]:
        """The first ones of all partitions, once there are so many."""
        consumer = AIOKafkaConsumer(self._named(topic), **self._servers, auto_offset_reset="earliest")
        await consumer.start()
        try:
            async with asyncio.timeout(PATIENCE_S):
                return [await consumer.getone() for _ in range(count)]
        finally:
            await consumer.stop()

    async def ends(self, topic: str) -> dict[int, int]:
        """How many records were ever put, by partition that ever had one."""
        consumer = AIOKafkaConsumer(self._named(topic), **self._servers)
        await consumer.start()
        try:
            ends = await consumer.end_offsets(consumer.assignment())
        finally:
            await consumer.stop()
        return {each.partition: end for each, end in ends.items() if end}

    async def committed(self, topic: str) -> dict[int, int]:
        """How far the product's group came, by partition where it came anywhere."""
        async with self._administration() as client:
            offsets = await client.list_consumer_group_offsets(self._named(topic))
        return {each.partition: found.offset for each, found in offsets.items() if found.offset > 0}

    async def until_all_is_committed(self, topic: str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while await self.committed(topic) != await self.ends(topic):  # noqa: ASYNC110 - it rings no bell
                await asyncio.sleep(0.1)

    async def add_partitions(self, topic: str, total: int) -> None:
        async with self._administration() as client:
            await client.create_partitions({self._named(topic): NewPartitions(total)})

    async def configure(self, topic: str, **configuration: str) -> None:
        """In place of all that was configured before."""
        entries = {name.replace("_", "."): value for name, value in configuration.items()}
        async with self._administration() as client:
            resource = ConfigResource(ConfigResourceType.TOPIC, self._named(topic), entries)
            await client.alter_configs([resource])

    async def delete_topic(self, topic: str) -> None:
        """Gone by the time that this returns: brokers answer before it is."""
        async with self._administration() as client, asyncio.timeout(PATIENCE_S):
            await client.delete_topics([self._named(topic)])
            while self._named(topic) in await client.list_topics():  # noqa: ASYNC110 - it rings no bell
                await asyncio.sleep(0.02)

    @asynccontextmanager
    async def _administration(self) -> AsyncIterator[AIOKafkaAdminClient]:
        client = AIOKafkaAdminClient(**self._servers)
        await client.start()
        try:
            yield client
        finally:
            await client.close()

    def _named(self, topic: str) -> str:
        return f"{self._prefix}.{topic}"
