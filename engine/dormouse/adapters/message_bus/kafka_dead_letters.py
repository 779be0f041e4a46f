"""The dead letters as an operator sees them: looked at without taking them away, and dropped."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete

from dormouse.adapters.message_bus.kafka_connection import KafkaConnection, translated
from dormouse.adapters.message_bus.kafka_record import DeadLetter, read_dead_letter
from dormouse.adapters.message_bus.kafka_topics import Names, missing

POLL_MS = 1_000
READ_S = 30.0


@dataclass(frozen=True, slots=True)
class Noted:
    """A letter and when it was noted."""

    at_ms: int
    letter: DeadLetter


async def newest(connection: KafkaConnection, limit: int) -> Sequence[Noted]:
    """The last noted first. Raises `MisconfiguredError` and `UnavailableError`."""
    partitions = await _partitions(connection)
    with translated():
        consumer = AIOKafkaConsumer(**connection.options, enable_auto_commit=False)
        try:
            async with asyncio.timeout(READ_S):
                await consumer.start()
                records = await _read(consumer, partitions, limit)
        finally:
            await consumer.stop()
    letters = [(record.timestamp, read_dead_letter(record.value)) for record in records]
    noted = [Noted(at_ms, letter) for at_ms, letter in letters if letter is not None]
    return sorted(noted, key=lambda each: each.at_ms, reverse=True)[:limit]


async def drop(connection: KafkaConnection) -> int:
    """How many were dropped: those that were there when it was asked. Raises as `newest`."""
    partitions = await _partitions(connection)
    with translated():
        consumer = AIOKafkaConsumer(**connection.options, enable_auto_commit=False)
        client = AIOKafkaAdminClient(**connection.options)
        try:
            async with asyncio.timeout(READ_S):
                await consumer.start()
                await client.start()
                begins, ends = await _bounds(consumer, partitions)
                await client.delete_records({each: RecordsToDelete(end) for each, end in ends.items()})
        finally:
            await consumer.stop()
            await client.close()
    return sum(end - begins[each] for each, end in ends.items())


async def _read(consumer: AIOKafkaConsumer, partitions: Sequence[TopicPartition], limit: int) -> Sequence[Any]:
    begins, ends = await _bounds(consumer, partitions)
    consumer.assign(list(ends))
    for each, end in ends.items():
        consumer.seek(each, max(begins[each], end - limit))
    records: list[Any] = []
    while any([await consumer.position(each) < end for each, end in ends.items()]):
        found = await consumer.getmany(timeout_ms=POLL_MS)
        records += [record for batch in found.values() for record in batch]
    return records


async def _partitions(connection: KafkaConnection) -> Sequence[TopicPartition]:
    topic = Names.of(connection.settings).dead_letters
    found = await connection.topics()
    if topic not in found:
        raise missing(topic)
    return [TopicPartition(topic, number) for number in range(found[topic])]


async def _bounds(
    consumer: AIOKafkaConsumer, partitions: Sequence[TopicPartition]
) -> tuple[Mapping[TopicPartition, int], Mapping[TopicPartition, int]]:
    """The first offset of each partition, and the one after its last."""
    return await consumer.beginning_offsets(partitions), await consumer.end_offsets(partitions)
