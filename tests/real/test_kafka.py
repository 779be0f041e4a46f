"""What only a broker can do: away, back again, written to by strangers, shared out anew, and silent."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from dormouse import telemetry
from dormouse.adapters.message_bus import kafka as kafka_bus
from dormouse.adapters.message_bus import kafka_connection, kafka_ear
from dormouse.adapters.message_bus.kafka import KafkaBus
from dormouse.adapters.message_bus.kafka_connection import KafkaConnection
from dormouse.adapters.message_bus.kafka_dead_letters import drop, newest
from dormouse.adapters.message_bus.kafka_topics import ensure
from dormouse.ids import WorkspaceId, new_job_id
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.message_bus import MessageBus
from dormouse.server_settings import KafkaSettings
from tests.builders import A_WORKSPACE
from tests.contract.ports.catalog_samples import a_stored_dataset, store_job
from tests.contract.ports.test_message_bus import heard, some_workspaces
from tests.real.kafka_observer import KafkaObserver, until
from tests.seen_telemetry import SeenTelemetry
from tests.toolchain import kafka
from tests.toolchain.kafka import KafkaPrograms, KafkaServer

MEBIBYTE = 1 << 20


@pytest.fixture
def observer(kafka_settings: KafkaSettings) -> KafkaObserver:
    return KafkaObserver(kafka_settings)


@pytest.fixture
async def topics(kafka_settings: KafkaSettings) -> None:
    await ensure(KafkaConnection(kafka_settings))


@pytest.fixture
def nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that only bells tell."""
    monkeypatch.setattr(kafka_bus, "LOOK_EVERY_S", 3600.0)


@pytest.fixture
def mortal(kafka_programs: KafkaPrograms) -> Iterator[KafkaServer]:
    """A broker that may be killed."""
    with kafka.running(kafka_programs) as server:
        yield server


@asynccontextmanager
async def running(
    settings: KafkaSettings, catalog: Catalog, count: int = 1
) -> AsyncIterator[Sequence[KafkaBus]]:
    """As many processes as that."""
    made = [KafkaBus(settings, catalog) for _ in range(count)]
    async with AsyncExitStack() as stack:
        for bus in made:
            await stack.enter_async_context(bus.running())
        yield made


def partitions(bus: KafkaBus) -> int:
    return sum(each.partitions for each in bus.health().hearings)


async def listening(bus: KafkaBus, count: int) -> AsyncIterator[WorkspaceId]:
    """Once it has so many partitions of the bells for workspaces."""
    bells = bus.apply_bells()
    await until(lambda: partitions(bus) == count)
    return bells


async def all_of(bells: AsyncIterator[WorkspaceId], names: Sequence[WorkspaceId]) -> None:
    found: set[WorkspaceId] = set()
    while found != set(names):
        found |= set(await heard(bells))


async def test_records_carry_ids_and_nothing_else(
    bus: MessageBus, catalog: Catalog, observer: KafkaObserver
) -> None:
    job = new_job_id()

    await bus.ring_ingest(A_WORKSPACE, job)
    await bus.ring_apply(A_WORKSPACE)

    (ingest,), (apply,) = await observer.records("ingest", 1), await observer.records("apply", 1)
    assert (ingest.key, json.loads(ingest.value)) == (job.encode(), {"v": 1, "workspace": "local", "job": job})
    assert (apply.key, json.loads(apply.value)) == (b"local", {"v": 1, "workspace": "local"})
    assert ingest.headers == apply.headers == ()


@pytest.mark.promise("P7")
async def test_the_trace_of_whoever_rang_travels_with_the_bell(
    bus: MessageBus, observer: KafkaObserver, telemetry_seen: SeenTelemetry
) -> None:
    job = new_job_id()

    with telemetry.span("a call"):
        await bus.ring_ingest(A_WORKSPACE, job)

    (record,) = await observer.records("ingest", 1)
    (sent,) = [each for each in telemetry_seen.spans() if each.name == "dormouse.ingest send"]
    headers = {name: value.decode() for name, value in record.headers}
    assert sent.context is not None
    assert headers["traceparent"].split("-")[1:3] == [
        f"{sent.context.trace_id:032x}",
        f"{sent.context.span_id:016x}",
    ]


@pytest.mark.usefixtures("topics", "nobody_looks")
async def test_a_bell_is_heard_in_another_process(kafka_settings: KafkaSettings, catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with running(kafka_settings, catalog, 2) as (one, other):
        jobs, workspaces = other.ingest_bells(), other.apply_bells()
        await until(lambda: partitions(other) == 6)
        job = await store_job(catalog)

        await one.ring_ingest(A_WORKSPACE, job.id)
        await one.ring_apply(A_WORKSPACE)

        assert await heard(jobs) == [(A_WORKSPACE, job.id)]
        assert await heard(workspaces) == [A_WORKSPACE]
        assert one.health().hearings == []


@pytest.mark.usefixtures("topics", "nobody_looks")
async def test_what_nobody_can_understand_is_noted_and_stops_nobody(
    kafka_settings: KafkaSettings, catalog: Catalog, observer: KafkaObserver
) -> None:
    await a_stored_dataset(catalog)
    bad: dict[bytes | None, str] = {
        b"no json": "not_json",
        b"\xff\xfe": "not_json",
        b"[" * 4000: "not_json",
        b"x" * (MEBIBYTE + 1): "too_long",
        None: "not_json",
        b"[1]": "wrong_schema",
        b'{"v": true, "workspace": "local"}': "wrong_schema",
        b'{"v": 1, "workspace": "local", "text": "secret"}': "wrong_schema",
        b'{"v": 1, "workspace": "\\ud800"}': "wrong_schema",
        b'{"v": 2, "workspace": "local"}': "unknown_version",
        b'{"v": 1, "workspace": "nowhere"}': "unknown_workspace",
    }
    await observer.configure("apply", max_message_bytes=str(4 * MEBIBYTE))
    await observer.put("apply", *bad, partition=0)
    await observer.put("ingest", json.dumps({"v": 1, "workspace": "local", "job": new_job_id()}).encode())

    async with running(kafka_settings, catalog) as (bus,):
        bells, _ = bus.apply_bells(), bus.ingest_bells()
        await bus.ring_apply(A_WORKSPACE)
        assert await heard(bells) == [A_WORKSPACE]
        await observer.until_all_is_committed("apply")
        await observer.until_all_is_committed("ingest")

    letters = [each.letter for each in await newest(KafkaConnection(kafka_settings), 100)]
    told = [(each.offset, each.length, each.reason) for each in letters if each.topic.endswith(".apply")]
    assert sorted(told) == [
        (offset, len(value or b""), reason) for offset, (value, reason) in enumerate(bad.items())
    ]
    assert [each.reason for each in letters if each.topic.endswith(".ingest")] == ["unknown_job"]
    assert not any(b"secret" in record.value for record in await observer.records("dlq", len(letters)))
    assert await drop(KafkaConnection(kafka_settings)) == len(letters)
    assert await newest(KafkaConnection(kafka_settings), 100) == []


@pytest.mark.usefixtures("topics", "nobody_looks")
async def test_bells_that_nobody_takes_hold_up_no_partition_and_wait_once(
    kafka_settings: KafkaSettings, catalog: Catalog, observer: KafkaObserver
) -> None:
    names = await some_workspaces(catalog, *(f"ws-{number}" for number in range(20)))
    async with running(kafka_settings, catalog, 2) as (one, other):
        bells = await listening(one, 3)
        for _ in range(3):
            for name in names:
                await other.ring_apply(name)
            await until(lambda: other.health().unsent == 0)
        await observer.until_all_is_committed("apply")

        assert sum((await observer.ends("apply")).values()) == 60
        assert sorted(await heard(bells, 20)) == sorted(names)


@pytest.mark.usefixtures("topics", "nobody_looks")
async def test_what_a_process_heard_and_did_not_take_rings_for_the_next(
    kafka_settings: KafkaSettings, catalog: Catalog, observer: KafkaObserver
) -> None:
    """It was committed, so nobody would hear it otherwise."""
    (name,) = await some_workspaces(catalog, "left")
    async with running(kafka_settings, catalog) as (leaving,):
        await listening(leaving, 3)
        await leaving.ring_apply(name)
        await until(lambda: leaving.health().unsent == 0)
        await observer.until_all_is_committed("apply")

    async with running(kafka_settings, catalog) as (next_one,):
        assert await heard(next_one.apply_bells()) == [name]


@pytest.mark.usefixtures("topics")
async def test_whoever_is_free_finds_what_rang_for_one_that_is_busy(
    kafka_settings: KafkaSettings, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_bus, "LOOK_EVERY_S", 0.2)
    await a_stored_dataset(catalog)
    async with running(kafka_settings, catalog) as (free,):
        bells = free.ingest_bells()
        job = await store_job(catalog)

        assert await heard(bells) == [(A_WORKSPACE, job.id)]


@pytest.mark.usefixtures("topics", "nobody_looks")
async def test_partitions_are_shared_out_anew_and_one_without_any_is_healthy(
    kafka_settings: KafkaSettings, catalog: Catalog
) -> None:
    names = await some_workspaces(catalog, *(f"ws-{number}" for number in range(12)))
    async with running(kafka_settings, catalog, 4) as members:
        for bus in members:
            bus.apply_bells()
        await until(lambda: sorted(partitions(bus) for bus in members) == [0, 1, 1, 1])
        idle = next(bus for bus in members if not partitions(bus))
        assert idle.health().is_alive
        assert [each.fetched_s for each in idle.health().hearings] == [None]

    async with running(kafka_settings, catalog) as (left,):
        bells = await listening(left, 3)
        async with running(kafka_settings, catalog) as (joining,):
            others = joining.apply_bells()
            await until(lambda: sorted([partitions(left), partitions(joining)]) == [1, 2])
            for name in names:
                await left.ring_apply(name)
            await until(lambda: left.health().unsent == 0)
            assert len(await heard(others)) == 1
        await until(lambda: partitions(left) == 3)
        for name in names:
            await left.ring_apply(name)

        await all_of(bells, names)


@pytest.mark.usefixtures("topics", "nobody_looks")
async def test_partitions_that_are_added_are_heard(
    kafka_settings: KafkaSettings, catalog: Catalog, observer: KafkaObserver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_connection, "METADATA_MS", 300)
    names = await some_workspaces(catalog, *(f"ws-{number}" for number in range(40)))
    async with running(kafka_settings, catalog) as (bus,):
        bells = await listening(bus, 3)

        await observer.add_partitions("apply", 7)
        for number in range(3, 7):
            value = json.dumps({"v": 1, "workspace": f"ws-{number}"}).encode()
            await observer.put("apply", value, partition=number)

        await all_of(bells, names[3:7])
        assert partitions(bus) == 7


@pytest.mark.promise("P8")
@pytest.mark.usefixtures("nobody_looks")
async def test_a_broker_that_is_killed_is_waited_for(
    mortal: KafkaServer, kafka_settings: KafkaSettings, catalog: Catalog
) -> None:
    """What rang meanwhile is heard afterwards, and ringing does not wait."""
    settings = kafka_settings.model_copy(update={"bootstrap_servers": mortal.bootstrap})
    await ensure(KafkaConnection(settings))
    names = await some_workspaces(catalog, "before", "during", "after")
    async with running(settings, catalog) as (bus,):
        bells = await listening(bus, 3)
        await bus.ring_apply(names[0])
        assert await heard(bells) == [names[0]]

        mortal.kill()
        async with asyncio.timeout(1):
            await bus.ring_apply(names[1])
        assert bus.health().unsent == 1
        assert bus.health().is_alive
        mortal.start()

        await all_of(bells, [names[1]])
        await bus.ring_apply(names[2])
        await all_of(bells, [names[2]])


@pytest.mark.usefixtures("nobody_looks")
async def test_a_broker_that_is_not_there_at_the_start_is_waited_for(
    mortal: KafkaServer, kafka_settings: KafkaSettings, catalog: Catalog
) -> None:
    settings = kafka_settings.model_copy(update={"bootstrap_servers": mortal.bootstrap})
    await ensure(KafkaConnection(settings))
    (name,) = await some_workspaces(catalog, "early")
    mortal.kill()
    async with running(settings, catalog) as (bus,):
        bells = bus.apply_bells()
        await bus.ring_apply(name)
        assert bus.health().is_alive
        mortal.start()

        assert await heard(bells) == [name]


@pytest.mark.usefixtures("topics", "nobody_looks")
async def test_a_consumer_that_silently_stopped_fetching_is_made_anew(
    kafka_settings: KafkaSettings, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_ear, "SILENT_S", 2.0)
    (name,) = await some_workspaces(catalog, "one")
    async with running(kafka_settings, catalog) as (bus,):
        bells = await listening(bus, 3)
        stopped = bus._apply._consumer
        assert stopped is not None

        stopped._fetcher._fetch_task.cancel()
        await until(lambda: bus._apply._consumer not in {None, stopped})
        await bus.ring_apply(name)

        assert await heard(bells) == [name]
        assert bus.health().is_alive
