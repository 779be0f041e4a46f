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
from dormouse.adapters.message_bus.back_off import BackOff
from dormouse.adapters.message_bus.kafka_connection import KafkaConnection
from dormouse.adapters.message_bus.kafka_ear import Hearing, KafkaEar
from dormouse.adapters.message_bus.kafka_outbox import CLOSE_S, KafkaOutbox, Message
from dormouse.adapters.message_bus.kafka_record import Bell, DeadLetter, Refusal, read_bell
from dormouse.adapters.message_bus.kafka_topics import Names, check
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
        self._names = Names.of(settings)
        self._bells = LocalBells(catalog)
        self._outbox = KafkaOutbox(self._connection)
        self._ingest = KafkaEar(self._connection, self._names.ingest, self._hear_ingest)
        self._apply = KafkaEar(self._connection, self._names.apply, self._hear_apply)
        self._known: OrderedDict[Bell, None] = OrderedDict()

    async def check(self) -> None:
        """Raises `MisconfiguredError`, also for a topic that is missing, and `UnavailableError`."""
        await check(self._connection)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Around everything that rings or listens. A broker that is away is waited for, and what is set wrongly
        ends the block with `MisconfiguredError`. At the end what still rings is sent."""
        reached = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            sender = group.create_task(self._send(reached), name="bus-send")
            ears = [
                group.create_task(self._listen(reached), name="bus-hear"),
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
                if not sender.done():
                    await self._outbox.emptied(CLOSE_S)
                sender.cancel()

    def health(self) -> Health:
        found = [self._ingest.hearing(), self._apply.hearing()]
        return Health([each for each in found if each is not None], self._outbox.unsent)

    def is_alive(self) -> bool:
        return self.health().is_alive

    async def ring_ingest(self, workspace: WorkspaceId, job: JobId) -> None:
        """Never waits, so that accepting never does."""
        with telemetry.send("dormouse.ingest", workspace=workspace, job=job):
            message = Message(self._names.ingest, Bell(workspace, job))
            self._outbox.put(message, telemetry.carried_context())

    async def ring_apply(self, workspace: WorkspaceId) -> None:
        self._outbox.put(Message(self._names.apply, Bell(workspace)), telemetry.carried_context())

    def ingest_bells(self, *, most_bytes: int | None = None) -> AsyncIterator[tuple[WorkspaceId, JobId]]:
        self._ingest.want()
        return self._bells.ingest_bells(most_bytes)

    def apply_bells(self) -> AsyncIterator[WorkspaceId]:
        self._apply.want()
        return self._bells.apply_bells()

    async def close(self) -> None:
        self._bells.close()

    async def _send(self, reached: asyncio.Event) -> None:
        await self._reach()
        reached.set()
        await self._outbox.run()

    async def _listen(self, reached: asyncio.Event) -> None:
        await reached.wait()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._ingest.run(), name="bus-hear-ingest")
            group.create_task(self._apply.run(), name="bus-hear-apply")

    async def _reach(self) -> None:
        """Once there was a broker and everything was right, trouble is waited out: whoever made it ends it."""
        back_off = BackOff()
        while True:
            try:
                await self.check()
            except UnavailableError as exc:
                log.warning("bus_unreachable", reason=str(exc))
                await asyncio.sleep(back_off.next_s())
            else:
                return

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
            await self._outbox.emptied(LETTERS_S)
        return kept

    def _bury(self, record: ConsumerRecord, reason: Refusal) -> None:
        letter = DeadLetter(
            record.topic, record.partition, record.offset, len(record.value or b""), reason.value
        )
        log.warning("record_not_understood", topic=letter.topic, offset=letter.offset, reason=letter.reason)
        self._outbox.put(Message(self._names.dead_letters, letter), {})

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
