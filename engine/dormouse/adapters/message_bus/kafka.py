"""Bells between processes, over Kafka: the records wake, and the catalog's rows say at what.

A record that arrives rings this process's own bells and is committed at once, so that no workspace and no job
ever holds up a partition. Which job comes next is asked of the catalog, as on the laptop. What waits there is
also looked for every half minute: the process that a bell went to may be busy, and this one free.

Source: writes §1 and §3.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog
from aiokafka import ConsumerRecord

from dormouse import telemetry
from dormouse.adapters.message_bus.kafka_connection import KafkaConnection
from dormouse.adapters.message_bus.kafka_ear import Hearing, KafkaEar
from dormouse.adapters.message_bus.kafka_outbox import CLOSE_S, KafkaOutbox
from dormouse.adapters.message_bus.kafka_record import Bell, DeadLetter, Refusal, read_bell
from dormouse.adapters.message_bus.kafka_topics import Names, check
from dormouse.adapters.message_bus.kafka_watch import TopicWatch
from dormouse.adapters.message_bus.local_bells import LocalBells
from dormouse.errors import NotFoundError, UnavailableError
from dormouse.ids import JobId, WorkspaceId
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.server_settings import KafkaSettings

LOOK_EVERY_S = 30.0
LETTERS_S = 10.0  # that dead letters may take before what they tell of is committed
MOST_KNOWN = 10_000

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Health:
    """`hearings` are of the topics that this process listens to; `unsent` bells are no reason to end it."""

    hearings: Sequence[Hearing]
    unsent: int

    @property
    def is_alive(self) -> bool:
        return all(each.is_alive for each in self.hearings)


class KafkaBus:
    """Rings at once, whatever Kafka does; sends and hears inside `running`."""

    def __init__(self, settings: KafkaSettings, catalog: Catalog) -> None:
        """Raises `MisconfiguredError` for settings that can be told from wrong ones without asking a broker."""
        self._catalog = catalog
        self._connection = KafkaConnection(settings)
        self._watch = TopicWatch(self._connection)
        self._bells = LocalBells(catalog)
        names = Names.of(settings)
        self._to_ingest, self._to_apply, self._letters = (
            KafkaOutbox(self._connection, topic, self._watch)
            for topic in (names.ingest, names.apply, names.dead_letters)
        )
        self._ingest = KafkaEar(self._connection, names.ingest, self._watch, self._hear_ingest)
        self._apply = KafkaEar(self._connection, names.apply, self._watch, self._hear_apply)
        self._known: OrderedDict[Bell, None] = OrderedDict()

    async def check(self) -> None:
        """Raises `MisconfiguredError`, and `UnavailableError`. A topic that is missing or too small is
        wrong, too."""
        await check(self._connection)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Around everything that rings or listens. A broker that is away is waited for, and so is a topic that
        is missing. What is set wrongly ends the block with `MisconfiguredError`, as does a first look that
        finds no topic at all. At the end what still rings is sent."""
        async with asyncio.TaskGroup() as group:
            senders = [
                group.create_task(self._watch.run(), name="bus-watch"),
                *(group.create_task(each.run(), name="bus-send") for each in self._outboxes),
            ]
            ears = [
                group.create_task(self._ingest.run(), name="bus-hear-ingest"),
                group.create_task(self._apply.run(), name="bus-hear-apply"),
                group.create_task(self._look(), name="bus-look"),
            ]
            try:
                yield
            finally:
                for task in ears:
                    task.cancel()
                await asyncio.wait(ears)
                for workspace in self._bells.unheard:
                    await self.ring_apply(workspace)  # for another to hear: this one committed it
                if not any(task.done() for task in senders):
                    await self._emptied(CLOSE_S)
                for task in senders:
                    task.cancel()

    def health(self) -> Health:
        found = [self._ingest.hearing(), self._apply.hearing()]
        return Health([each for each in found if each is not None], sum(each.unsent for each in self._outboxes))

    def is_alive(self) -> bool:
        return self.health().is_alive

    async def ring_ingest(self, workspace: WorkspaceId, job: JobId) -> None:
        """Never waits, so that accepting never does."""
        with telemetry.send("dormouse.ingest", workspace=workspace, job=job):
            self._to_ingest.put(Bell(workspace, job), telemetry.carried_context())

    async def ring_apply(self, workspace: WorkspaceId) -> None:
        self._to_apply.put(Bell(workspace), telemetry.carried_context())

    def ingest_bells(self, *, most_bytes: int | None = None) -> AsyncIterator[tuple[WorkspaceId, JobId]]:
        self._ingest.want()
        return self._bells.ingest_bells(most_bytes)

    def apply_bells(self) -> AsyncIterator[WorkspaceId]:
        self._apply.want()
        return self._bells.apply_bells()

    async def close(self) -> None:
        self._bells.close()

    @property
    def _outboxes(self) -> Sequence[KafkaOutbox]:
        return self._to_ingest, self._to_apply, self._letters

    async def _emptied(self, within_s: float) -> None:
        async with asyncio.TaskGroup() as group:
            for each in self._outboxes:
                group.create_task(each.emptied(within_s), name="bus-empty")

    async def _look(self) -> None:
        while True:
            self._bells.ring_ingest()
            if self._apply.is_wanted:
                await self._look_for_changes()
            await asyncio.sleep(LOOK_EVERY_S)

    async def _look_for_changes(self) -> None:
        try:
            due = await self._catalog.read(lambda tx: tx.workspaces.with_due_changes())
        except UnavailableError as exc:
            log.warning("look_failed", code=exc.code)
            return
        for workspace in due:
            self._bells.ring_apply(workspace)

    async def _hear_ingest(self, records: Sequence[ConsumerRecord]) -> None:
        for bell, record in await self._understood(records, has_job=True):
            if bell.job is not None:
                telemetry.arrived(bell.job, _headers(record))
        self._bells.ring_ingest()

    async def _hear_apply(self, records: Sequence[ConsumerRecord]) -> None:
        for bell, _ in await self._understood(records, has_job=False):
            self._bells.ring_apply(bell.workspace)

    async def _understood(
        self, records: Sequence[ConsumerRecord], *, has_job: bool
    ) -> Sequence[tuple[Bell, ConsumerRecord]]:
        """The others become dead letters."""
        read = [(read_bell(record.value, has_job=has_job), record) for record in records]
        unknown = await self._unknown({each for each, _ in read if isinstance(each, Bell)})
        kept = []
        for each, record in read:
            if isinstance(each, Refusal):
                self._bury(record, each)
            elif each in unknown:
                self._bury(record, Refusal.UNKNOWN_JOB if has_job else Refusal.UNKNOWN_WORKSPACE)
            else:
                kept.append((each, record))
        if len(kept) < len(read):
            await self._letters.emptied(LETTERS_S)
        return kept

    def _bury(self, record: ConsumerRecord, reason: Refusal) -> None:
        letter = DeadLetter(
            record.topic, record.partition, record.offset, len(record.value or b""), reason.value
        )
        log.warning("record_not_understood", topic=letter.topic, offset=letter.offset, reason=letter.reason)
        self._letters.put(letter, {})

    async def _unknown(self, bells: set[Bell]) -> set[Bell]:
        """What the catalog has no row of; nothing while it is away. A row is there before its bell rings."""
        asked = sorted(bells - self._known.keys(), key=lambda bell: bell.key)
        if not asked:
            return set()
        try:
            unknown = await self._catalog.read(lambda tx: _without_row(tx, asked))
        except UnavailableError:
            return set()
        for bell in asked:
            if bell not in unknown:
                self._known[bell] = None
        while len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return unknown


async def _without_row(tx: CatalogTransaction, bells: Sequence[Bell]) -> set[Bell]:
    found = set()
    for bell in bells:
        try:
            if bell.job is None:
                await tx.workspaces.get(bell.workspace)
            elif (await tx.jobs.get(bell.job)).workspace != bell.workspace:
                found.add(bell)
        except NotFoundError:
            found.add(bell)
    return found


def _headers(record: ConsumerRecord) -> dict[str, str]:
    return {name: value.decode("ascii", "replace") for name, value in record.headers if value is not None}
