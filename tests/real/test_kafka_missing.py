"""A topic that is not there, at the start or from some time on: what needs another one goes on."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from dormouse.adapters.message_bus import kafka as kafka_bus
from dormouse.adapters.message_bus.kafka import KafkaBus
from dormouse.adapters.message_bus.kafka_connection import KafkaConnection
from dormouse.adapters.message_bus.kafka_dead_letters import newest
from dormouse.adapters.message_bus.kafka_topics import ensure
from dormouse.errors import MisconfiguredError
from dormouse.ports.catalog.transaction import Catalog
from dormouse.server_settings import KafkaSettings
from tests.builders import A_WORKSPACE
from tests.contract.ports.catalog_samples import a_stored_dataset, store_job
from tests.contract.ports.test_message_bus import heard, some_workspaces
from tests.real.kafka_observer import KafkaObserver, until
from tests.toolchain import kafka
from tests.toolchain.kafka import KafkaPrograms, KafkaServer


@pytest.fixture(autouse=True)
def nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that only bells tell."""
    monkeypatch.setattr(kafka_bus, "LOOK_EVERY_S", 3600.0)


@pytest.fixture
def observer(kafka_settings: KafkaSettings) -> KafkaObserver:
    return KafkaObserver(kafka_settings)


@pytest.fixture
def making(kafka_programs: KafkaPrograms) -> Iterator[KafkaServer]:
    """A broker that makes whatever topic is named, as brokers do where nobody told them not to."""
    with kafka.running(kafka_programs, settings={"auto.create.topics.enable": "true"}) as server:
        yield server


async def make_topics(settings: KafkaSettings) -> None:
    await ensure(KafkaConnection(settings))


@asynccontextmanager
async def running(settings: KafkaSettings, catalog: Catalog) -> AsyncIterator[KafkaBus]:
    bus = KafkaBus(settings, catalog)
    async with bus.running():
        yield bus


def held(bus: KafkaBus) -> dict[str, int]:
    """Partitions by the last part of the topic's name."""
    return {each.topic.rpartition(".")[2]: each.partitions for each in bus.health().hearings}


def reasons(logs: Sequence[object], topic: str) -> list[str]:
    return [
        str(entry["reason"])
        for entry in logs
        if isinstance(entry, dict) and entry["event"] == "topic_differs" and topic in entry["reason"]
    ]


@pytest.mark.promise("P8")
async def test_a_topic_that_is_not_made_yet_holds_up_only_its_own_bells(
    kafka_settings: KafkaSettings, catalog: Catalog, observer: KafkaObserver
) -> None:
    await make_topics(kafka_settings)
    await observer.delete_topic("apply")
    (name,) = await some_workspaces(catalog, "one")
    await a_stored_dataset(catalog)
    with capture_logs() as logs:
        async with running(kafka_settings, catalog) as bus:
            jobs, workspaces = bus.ingest_bells(), bus.apply_bells()
            await until(lambda: held(bus).get("ingest") == 3)

            async with asyncio.timeout(1):
                await bus.ring_apply(name)
            job = await store_job(catalog)
            await bus.ring_ingest(A_WORKSPACE, job.id)
            assert await heard(jobs) == [(A_WORKSPACE, job.id)]
            await until(lambda: bus.health().unsent == 1)
            (waiting,) = [each for each in bus.health().hearings if each.topic.endswith(".apply")]
            assert (waiting.is_alive, waiting.turned_s) == (True, 0.0)
            await make_topics(kafka_settings)

            assert await heard(workspaces) == [name]
            await until(lambda: held(bus) == {"ingest": 3, "apply": 3})

    (told,) = reasons(logs, f"{kafka_settings.prefix}.apply")
    assert told.startswith("DORMOUSE_KAFKA__PREFIX asks for the topic ")
    assert told.endswith(".apply, which is missing: run `dormouse topics ensure`")


@pytest.mark.promise("P8")
async def test_a_topic_that_is_deleted_and_made_again_rings_again(
    kafka_settings: KafkaSettings, catalog: Catalog, observer: KafkaObserver
) -> None:
    await make_topics(kafka_settings)
    names = await some_workspaces(catalog, "before", "between", "after")
    await a_stored_dataset(catalog)
    async with running(kafka_settings, catalog) as bus:
        jobs, workspaces = bus.ingest_bells(), bus.apply_bells()
        await until(lambda: held(bus) == {"ingest": 3, "apply": 3})
        await bus.ring_apply(names[0])
        assert await heard(workspaces) == [names[0]]

        await observer.delete_topic("apply")
        await bus.ring_apply(names[1])
        job = await store_job(catalog)
        await bus.ring_ingest(A_WORKSPACE, job.id)
        assert await heard(jobs) == [(A_WORKSPACE, job.id)]
        await until(lambda: held(bus) == {"ingest": 3, "apply": 0})
        await make_topics(kafka_settings)

        assert await heard(workspaces) == [names[1]]
        await bus.ring_apply(names[2])
        assert await heard(workspaces) == [names[2]]
        assert bus.health().unsent == 0


async def test_what_nobody_understands_stops_nobody_while_there_is_nowhere_to_note_it(
    kafka_settings: KafkaSettings, catalog: Catalog, observer: KafkaObserver
) -> None:
    await make_topics(kafka_settings)
    await observer.delete_topic("dlq")
    names = await some_workspaces(catalog, "one", "two")
    async with running(kafka_settings, catalog) as bus:
        workspaces = bus.apply_bells()
        await until(lambda: held(bus).get("apply") == 3)
        async with asyncio.timeout(5):  # half of what noting may take
            for name in names:
                await observer.put("apply", b"no json", json.dumps({"v": 1, "workspace": name}).encode())
                assert await heard(workspaces) == [name]
        await make_topics(kafka_settings)
        await until(lambda: bus.health().unsent == 0)

    letters = await newest(KafkaConnection(kafka_settings), 10)
    assert [each.letter.reason for each in letters] == ["not_json", "not_json"]


async def test_brokers_are_not_made_to_make_a_topic_of_their_own_size(
    making: KafkaServer, kafka_settings: KafkaSettings, catalog: Catalog
) -> None:
    settings = kafka_settings.model_copy(update={"bootstrap_servers": making.bootstrap})
    await make_topics(settings)
    await KafkaObserver(settings).delete_topic("apply")
    (name,) = await some_workspaces(catalog, "one")
    async with running(settings, catalog) as bus:
        workspaces, _ = bus.apply_bells(), bus.ingest_bells()
        await bus.ring_apply(name)
        await until(lambda: held(bus).get("ingest") == 3)
        await make_topics(settings)

        assert await heard(workspaces) == [name]
        assert held(bus) == {"apply": 3, "ingest": 3}


async def test_fewer_partitions_than_are_asked_for_are_told_and_used(
    kafka_settings: KafkaSettings, catalog: Catalog
) -> None:
    await make_topics(kafka_settings)
    larger = kafka_settings.model_copy(update={"partitions": 5})
    (name,) = await some_workspaces(catalog, "one")
    with capture_logs() as logs:
        async with running(larger, catalog) as bus:
            bells = bus.apply_bells()
            await bus.ring_apply(name)
            assert await heard(bells) == [name]

    with pytest.raises(MisconfiguredError) as told:
        await KafkaBus(larger, catalog).check()
    assert told.value.setting == "KAFKA__PARTITIONS"
    (warned,) = reasons(logs, f"{kafka_settings.prefix}.apply")
    for words in (warned, str(told.value)):
        assert "too few partitions, 3 of 5: add them (kafka-topics.sh --alter" in words
        assert "or set DORMOUSE_KAFKA__PARTITIONS to 3" in words
