"""The topics as they have to be, made where they are missing and compared where they are not.

What differs is told and left alone: partitions cannot be taken back, and other settings may be an operator's
own. Source: writes §1 and §3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import InvalidReplicationFactorError, NoError, TopicAlreadyExistsError, for_code

from dormouse.adapters.message_bus.kafka_connection import KafkaConnection, translated, wrong
from dormouse.errors import MisconfiguredError
from dormouse.server_settings import KafkaSettings

DAY_MS = 24 * 3600 * 1000
# A bell that nobody heard for a day was rung again by then, thousands of times.
BELLS_MS = DAY_MS
DEAD_LETTERS_MS = 30 * DAY_MS
RETENTION = "retention.ms"


@dataclass(frozen=True, slots=True)
class Names:
    """The topics of one installation."""

    ingest: str
    apply: str
    dead_letters: str

    @classmethod
    def of(cls, settings: KafkaSettings) -> "Names":
        return cls(f"{settings.prefix}.ingest", f"{settings.prefix}.apply", f"{settings.prefix}.dlq")


@dataclass(frozen=True, slots=True)
class Wanted:
    name: str
    partitions: int
    replicas: int
    retention_ms: int

    @property
    def configuration(self) -> Mapping[str, str]:
        return {
            "cleanup.policy": "delete",
            RETENTION: str(self.retention_ms),
            "max.message.bytes": "65536",
            # Whatever others write with, no client needs a library to read it.
            "compression.type": "uncompressed",
        }


@dataclass(frozen=True, slots=True)
class Found:
    partitions: int
    replicas: int
    configuration: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Report:
    """`differences` are sentences: what it is, what it must be, and what to do."""

    made: Sequence[str] = ()
    differences: Sequence[str] = field(default=())


def wanted(settings: KafkaSettings) -> Sequence[Wanted]:
    names = Names.of(settings)
    return [
        Wanted(names.ingest, settings.partitions, settings.replicas, BELLS_MS),
        Wanted(names.apply, settings.partitions, settings.replicas, BELLS_MS),
        Wanted(names.dead_letters, 1, settings.replicas, DEAD_LETTERS_MS),
    ]


def differences(topic: Wanted, found: Found) -> Sequence[str]:
    """More partitions, more replicas and a longer retention are as good."""
    told = []
    if found.partitions < topic.partitions:
        told.append(too_few(topic, found.partitions))
    if found.replicas < topic.replicas:
        told.append(
            f"{topic.name} has {found.replicas} of {topic.replicas} replicas: add them "
            f"(kafka-reassign-partitions.sh), or set DORMOUSE_KAFKA__REPLICAS to {found.replicas}"
        )
    for name, value in topic.configuration.items():
        told += _difference(topic, name, value, found.configuration.get(name, ""))
    return told


def too_few(topic: Wanted, partitions: int) -> str:
    return (
        f"{topic.name} has too few partitions, {partitions} of {topic.partitions}: add them "
        f"(kafka-topics.sh --alter --topic {topic.name} --partitions {topic.partitions}), or set "
        f"DORMOUSE_KAFKA__PARTITIONS to {partitions}"
    )


def _difference(topic: Wanted, name: str, value: str, found: str) -> Sequence[str]:
    is_longer = name == RETENTION and (found == "-1" or (found.isdigit() and int(found) >= int(value)))
    if found == value or is_longer:
        return []
    told = (
        f"{topic.name} has {name}={found}, not {value}: change it (kafka-configs.sh --alter "
        f"--entity-type topics --entity-name {topic.name} --add-config {name}={value})"
    )
    return [told]


async def check(connection: KafkaConnection) -> None:
    """Raises `UnavailableError` and, also for a topic that is missing or too small, `MisconfiguredError`."""
    found = await connection.topics()
    for topic in wanted(connection.settings):
        if topic.name not in found:
            raise missing(topic.name)
        if found[topic.name] < topic.partitions:
            raise wrong("PARTITIONS", f"asks for more than there are: {too_few(topic, found[topic.name])}")


def missing(topic: str) -> MisconfiguredError:
    return wrong("PREFIX", f"asks for the topic {topic}, which is missing: run `dormouse topics ensure`")


async def ensure(connection: KafkaConnection) -> Report:
    """Raises `MisconfiguredError` and `UnavailableError`."""
    await connection.topics()  # tells what is wrong with the connection
    topics = wanted(connection.settings)
    with translated():
        client = AIOKafkaAdminClient(**connection.options)
        try:
            await client.start()
            made = await _make(client, topics)
            found = await _found(client, [each.name for each in topics if each.name not in made])
        finally:
            await client.close()
    told = [line for topic in topics if topic.name in found for line in differences(topic, found[topic.name])]
    return Report(made, told)


async def _make(client: AIOKafkaAdminClient, topics: Sequence[Wanted]) -> Sequence[str]:
    answer = await client.create_topics([_new(topic) for topic in topics])
    made = []
    for name, code, *_ in answer.topic_errors:
        error = for_code(code)
        if error is InvalidReplicationFactorError:
            raise wrong("REPLICAS", "asks for more than there are brokers: a single one holds 1")
        if error is NoError:
            made.append(name)
        elif error is not TopicAlreadyExistsError:
            raise error(name)
    return made


def _new(topic: Wanted) -> NewTopic:
    configuration = {**topic.configuration, "min.insync.replicas": str(min(2, topic.replicas))}
    return NewTopic(topic.name, topic.partitions, topic.replicas, topic_configs=configuration)


async def _found(client: AIOKafkaAdminClient, names: Sequence[str]) -> Mapping[str, Found]:
    if not names:
        return {}
    described = {each["topic"]: each["partitions"] for each in await client.describe_topics(list(names))}
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    configured = {
        resource[3]: {entry[0]: entry[1] for entry in resource[4]}
        for answer in await client.describe_configs(resources)
        for resource in answer.resources
    }
    return {
        name: Found(len(parts), min(len(each["replicas"]) for each in parts), configured.get(name, {}))
        for name, parts in described.items()
        if parts
    }
