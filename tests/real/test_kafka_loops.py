"""The loops of one engine over Kafka, at work on what another engine of the same memory accepted."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from dormouse.adapters.message_bus import kafka as kafka_bus
from dormouse.compose import LOCAL_PRINCIPAL, open_shared_engine
from dormouse.engine import Engine
from dormouse.ingest import sweep
from dormouse.model.document import Content, ContentKind
from dormouse.model.job import Job
from dormouse.model.recall import RecallRequest
from dormouse.server_settings import ServerSettings
from dormouse.settings import read
from tests.toolchain import kafka
from tests.toolchain.kafka import KafkaPrograms, KafkaServer
from tests.toolchain.stack import Stack, prepared

PATIENCE_S = 30.0
NEVER_S = 3600


@pytest.fixture
def mortal(kafka_programs: KafkaPrograms) -> Iterator[KafkaServer]:
    """A broker that may be killed."""
    with kafka.running(kafka_programs) as server:
        yield server


@pytest.fixture
def nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """But at the start: from then on only bells tell."""
    monkeypatch.setattr(kafka_bus, "LOOK_EVERY_S", float(NEVER_S))
    monkeypatch.setattr(sweep, "PERIOD_MS", NEVER_S * 1000)


def settings_on(stack: Stack) -> ServerSettings:
    """Of a new memory, whose tables and topics are made."""
    given = stack.settings()
    prepared(given)
    return read(ServerSettings, given)


@asynccontextmanager
async def gateway_and_worker(settings: ServerSettings) -> AsyncIterator[tuple[Engine, Engine]]:
    """The first accepts and runs no loops, the other runs all of them."""
    async with (
        open_shared_engine(settings, frozenset()) as gateway,
        open_shared_engine(settings) as worker,
        gateway.running(),
        worker.running(),
    ):
        yield gateway, worker


async def remembered(engine: Engine, text: str) -> Job:
    """Accepted, within a second whatever Kafka does, and waited for until it is searchable."""
    async with asyncio.timeout(1):
        scope = await engine.scope_of(LOCAL_PRINCIPAL)
        receipt = await engine.remember(scope, "notes", Content(body=text.encode(), kind=ContentKind.TEXT))
    scope = await engine.scope_of(LOCAL_PRINCIPAL)
    return await engine.wait(scope, receipt.job.id, until="searchable", budget_s=PATIENCE_S)


async def found(engine: Engine, question: str) -> list[str]:
    result = await engine.recall(await engine.scope_of(LOCAL_PRINCIPAL), RecallRequest(question))
    return [hit.passage.text for hit in result.hits]


@pytest.mark.promise("P8")
@pytest.mark.usefixtures("nobody_looks")
async def test_what_one_process_accepts_is_searchable_because_it_rang_for_another(stack: Stack) -> None:
    async with gateway_and_worker(settings_on(stack)) as (gateway, worker):
        for name in ("Carol", "Dora"):
            job = await remembered(gateway, f"{name} founded Initech in Vienna.")
            assert job.stage.is_searchable, job.stage

        for engine in (gateway, worker):
            assert sorted(await found(engine, "Who founded Initech?")) == [
                "Carol founded Initech in Vienna.",
                "Dora founded Initech in Vienna.",
            ]


@pytest.mark.promise("P8")
async def test_what_is_accepted_while_kafka_is_down_is_found_by_looking(
    stack: Stack, mortal: KafkaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_bus, "LOOK_EVERY_S", 0.2)
    monkeypatch.setattr(sweep, "PERIOD_MS", NEVER_S * 1000)
    async with gateway_and_worker(settings_on(replace(stack, kafka=mortal))) as (gateway, worker):
        mortal.kill()
        job = await remembered(gateway, "Carol founded Initech in Vienna.")
        assert job.stage.is_searchable, job.stage

        assert await found(worker, "Who founded Initech?") == ["Carol founded Initech in Vienna."]
        assert gateway.is_alive()
        assert worker.is_alive()
