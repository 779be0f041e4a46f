"""Topics, settings and dead letters as an operator meets them."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import SecretStr

from dormouse.adapters.message_bus.kafka import KafkaBus
from dormouse.adapters.message_bus.kafka_connection import KafkaConnection
from dormouse.adapters.message_bus.kafka_topics import ensure
from dormouse.errors import MisconfiguredError, UnavailableError
from dormouse.ports.catalog.transaction import Catalog
from dormouse.server_settings import KafkaSettings
from tests.contract.ports.test_message_bus import heard, some_workspaces
from tests.contract.program import Program
from tests.real.kafka_observer import KafkaObserver
from tests.toolchain.kafka import USER, KafkaServer


@pytest.fixture
def observer(kafka_settings: KafkaSettings) -> KafkaObserver:
    return KafkaObserver(kafka_settings)


@pytest.fixture
def secured(kafka_settings: KafkaSettings, kafka_server: KafkaServer) -> KafkaSettings:
    """Over TLS and with a password."""
    there = {
        "bootstrap_servers": f"localhost:{kafka_server.tls_port}",
        "user": USER,
        "password": SecretStr(kafka_server.password),
        "tls": True,
        "ca_file": str(kafka_server.certificate),
    }
    return kafka_settings.model_copy(update=there)


def program(folder: Path, settings: KafkaSettings) -> Program:
    prefix = "DORMOUSE_KAFKA__"
    return Program(
        folder,
        {
            f"{prefix}BOOTSTRAP_SERVERS": settings.bootstrap_servers,
            f"{prefix}PREFIX": settings.prefix,
            f"{prefix}PARTITIONS": str(settings.partitions),
            f"{prefix}REPLICAS": str(settings.replicas),
        },
    )


async def test_bells_go_over_tls_with_a_password(secured: KafkaSettings, catalog: Catalog) -> None:
    await ensure(KafkaConnection(secured))
    (name,) = await some_workspaces(catalog, "one")
    bus = KafkaBus(secured, catalog)
    async with bus.running():
        bells = bus.apply_bells()
        await bus.ring_apply(name)

        assert await heard(bells) == [name]


async def test_a_password_alone_does_too(
    secured: KafkaSettings, kafka_server: KafkaServer, catalog: Catalog
) -> None:
    there = {"bootstrap_servers": f"127.0.0.1:{kafka_server.password_port}", "tls": False, "ca_file": ""}
    settings = secured.model_copy(update=there)
    await ensure(KafkaConnection(settings))

    await KafkaBus(settings, catalog).check()


@pytest.mark.parametrize(
    ("change", "setting"),
    [
        ({"password": SecretStr("wr0ng")}, "KAFKA__PASSWORD"),
        ({"user": "nobody"}, "KAFKA__PASSWORD"),
        ({"mechanism": "scram-sha-256"}, "KAFKA__MECHANISM"),
        ({"ca_file": ""}, "KAFKA__CA_FILE"),
        ({"prefix": "elsewhere"}, "KAFKA__PREFIX"),
    ],
)
async def test_what_is_set_wrongly_is_named_and_not_repeated(
    secured: KafkaSettings, catalog: Catalog, change: Mapping[str, object], setting: str
) -> None:
    await ensure(KafkaConnection(secured))
    bus = KafkaBus(secured.model_copy(update=change), catalog)

    with pytest.raises(MisconfiguredError) as told:
        await bus.check()
    with pytest.RaisesGroup(MisconfiguredError):
        async with bus.running():
            await heard(bus.apply_bells())

    assert told.value.setting == setting
    assert str(told.value).startswith(f"DORMOUSE_{setting} ")
    assert not any(word in str(told.value) for word in ("wr0ng", "nobody"))


async def test_a_broker_of_another_name_than_its_certificate_has_is_refused(
    secured: KafkaSettings, kafka_server: KafkaServer
) -> None:
    elsewhere = secured.model_copy(update={"bootstrap_servers": f"127.0.0.1:{kafka_server.tls_port}"})

    with pytest.raises(MisconfiguredError) as told:
        await ensure(KafkaConnection(elsewhere))

    assert told.value.setting == "KAFKA__BOOTSTRAP_SERVERS"


async def test_a_password_for_brokers_that_ask_for_none_is_refused(
    secured: KafkaSettings, kafka_server: KafkaServer
) -> None:
    there = {"bootstrap_servers": kafka_server.bootstrap, "tls": False, "ca_file": ""}

    with pytest.raises(MisconfiguredError) as told:
        await ensure(KafkaConnection(secured.model_copy(update=there)))

    assert told.value.setting == "KAFKA__USER"


async def test_brokers_that_are_away_are_no_fault_of_the_settings(kafka_settings: KafkaSettings) -> None:
    away = kafka_settings.model_copy(update={"bootstrap_servers": "127.0.0.1:1"})

    with pytest.raises(UnavailableError):
        await ensure(KafkaConnection(away))


async def test_topics_are_made_once_and_compared_from_then_on(kafka_settings: KafkaSettings) -> None:
    first = await ensure(KafkaConnection(kafka_settings))
    second = await ensure(KafkaConnection(kafka_settings))

    prefix = kafka_settings.prefix
    assert sorted(first.made) == [f"{prefix}.apply", f"{prefix}.dlq", f"{prefix}.ingest"]
    assert (first.differences, second.made, second.differences) == ([], [], [])


async def test_what_differs_is_named_with_what_to_do_and_left_alone(
    kafka_settings: KafkaSettings, observer: KafkaObserver, tmp_path: Path
) -> None:
    await ensure(KafkaConnection(kafka_settings))
    await observer.configure("apply", retention_ms="1000", cleanup_policy="compact", compression_type="gzip")
    larger = kafka_settings.model_copy(update={"partitions": 5})

    done = program(tmp_path, larger).run("topics", "ensure")

    prefix = kafka_settings.prefix
    ends = [line.partition(": ")[0] for line in sorted(done.stderr.splitlines())]
    assert done.returncode == 1
    assert ends == [
        f"{prefix}.apply has cleanup.policy=compact, not delete",
        f"{prefix}.apply has compression.type=gzip, not uncompressed",
        f"{prefix}.apply has max.message.bytes=1048588, not 65536",
        f"{prefix}.apply has retention.ms=1000, not 86400000",
        f"{prefix}.apply has too few partitions, 3 of 5",
        f"{prefix}.ingest has too few partitions, 3 of 5",
    ]
    assert f"kafka-topics.sh --alter --topic {prefix}.ingest --partitions 5" in done.stderr


async def test_more_replicas_than_brokers_are_refused(kafka_settings: KafkaSettings) -> None:
    with pytest.raises(MisconfiguredError) as told:
        await ensure(KafkaConnection(kafka_settings.model_copy(update={"replicas": 3})))

    assert told.value.setting == "KAFKA__REPLICAS"


async def test_dead_letters_are_listed_newest_first_and_dropped(
    kafka_settings: KafkaSettings, observer: KafkaObserver, tmp_path: Path
) -> None:
    cluster = program(tmp_path, kafka_settings)
    assert cluster.run("topics", "ensure").returncode == 0
    for offset in (1, 2, 3):
        letter = {"v": 1, "topic": "t", "partition": 0, "offset": offset, "length": 7, "reason": "not_json"}
        await observer.put("dlq", json.dumps(letter).encode())
    await observer.put("dlq", b"an operator's own words")

    listed = json.loads(cluster.run("dlq", "list", "--json").stdout)
    newest = cluster.run("dlq", "list", "--limit", "2").stdout
    refused = cluster.run("dlq", "drop", given=b"n\n")
    dropped = cluster.run("dlq", "drop", "--yes")
    after = cluster.run("dlq", "list")

    assert [(row["offset"], row["reason"], row["length"]) for row in listed] == [
        (3, "not_json", 7),
        (2, "not_json", 7),
        (1, "not_json", 7),
    ]
    assert "t partition 0 offset 3" in newest
    assert refused.returncode == 1
    assert (dropped.returncode, dropped.stdout) == (0, "dropped 4 notes\n")
    assert (after.returncode, after.stdout, after.stderr) == (0, "", "no records were put aside\n")
