"""PostgreSQL as the catalog: many processes at once, rows locked where an order matters.

Writers see what is committed at each statement, so that whoever waited for a workspace's counter row decides on
what its predecessor left behind; readers see one snapshot. What takes longer than its bound is given up by the
server itself, so that nothing which died holds a lock for long.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import asyncpg  # type: ignore[import-untyped]  # it publishes none
from sqlalchemy import NullPool, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from dormouse.adapters.catalog import sql_states
from dormouse.adapters.catalog.failures import call_failures_translated
from dormouse.adapters.catalog.migrations.upgrade import HEAD, stored_revision, upgrade
from dormouse.adapters.catalog.postgresql_url import Address, address_of, encryption_failure
from dormouse.adapters.catalog.shared_run import SharedRun
from dormouse.adapters.catalog.tables import metadata
from dormouse.clock import Clock
from dormouse.errors import CatalogUnavailableError

CONNECT_S = 5.0
STATEMENT_S = 15.0  # by the server's clock; the driver gives up a little later
LOCK_S = 5.0
VACUUM_LOCK_S = 60.0  # another process's pass over the same table ends within it
IDLE_S = 30.0  # in a transaction: a process that hangs must not hold the workspace's row
POOL_TIMEOUT_S = 5.0
_MIGRATION_LOCK = 0x646F726D6F757365  # "dormouse"

_NOW = text("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")

_TAKE_DUTY = text("SELECT pg_try_advisory_lock(hashtextextended('dormouse ' || CAST(:name AS text), 0))")

Result = TypeVar("Result")


class PostgresqlBackend:
    """`connections` bounds the pool of writers and that of readers, each. Without a clock, the server's."""

    def __init__(self, url: str, clock: Clock | None, connections: int) -> None:
        self._clock = clock
        address = address_of(url)
        self._writer = _engine(address, connections).execution_options(isolation_level="READ COMMITTED")
        # Apart, so that a reader inside a writer never waits for another writer's end.
        self._reader = _engine(address, connections).execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
        self._care = _engine(address, None)
        self._scrubbing = SharedRun(self._scrub)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        async with _opened(self._writer) as connection:
            yield connection

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        async with _opened(self._reader) as connection:
            yield connection

    async def write(self, work: Callable[[AsyncConnection], Awaitable[Result]]) -> Result:
        async with self.writing() as connection:
            return await work(connection)

    async def read(self, work: Callable[[AsyncConnection], Awaitable[Result]]) -> Result:
        async with self.reading() as connection:
            return await work(connection)

    @asynccontextmanager
    async def duty(self, name: str) -> AsyncIterator[bool]:
        """Held by a connection of its own, outside any transaction, so that it ends with the process."""
        async with _opened(self._care.execution_options(isolation_level="AUTOCOMMIT")) as connection:
            with _server_failures_translated():
                async with asyncio.timeout(CONNECT_S):
                    is_ours = (await connection.execute(_TAKE_DUTY, {"name": name})).scalar_one()
            yield bool(is_ours)

    async def now_ms(self, connection: AsyncConnection) -> int:
        if self._clock is not None:
            return self._clock.now_ms()
        with _server_failures_translated():
            return int((await connection.execute(_NOW)).scalar_one())

    async def migrate(self) -> None:
        """Safe while another process does the same: one changes it at a time."""
        with _setting_named():
            async with _opened(self._care) as connection:
                with _server_failures_translated():
                    lock = {"lock": _MIGRATION_LOCK}
                    await connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), lock)
                    await connection.run_sync(upgrade)
                    await connection.commit()

    async def check(self) -> None:
        """Raises `MisconfiguredError` when the schema is not this version's."""
        with _setting_named():
            async with self.reading() as connection:
                with _server_failures_translated():
                    found = await connection.run_sync(stored_revision)
        if found != HEAD:
            raise sql_states.unprepared()

    async def scrub(self) -> None:
        """Take deleted rows out of their pages and indexes; all who ask at the same time share one pass that
        began after they did.

        Their bytes may remain in the free space of a page and in the server's log until both are used again:
        no client reaches them there.
        """
        await self._scrubbing.once_from_now()

    async def _scrub(self) -> None:
        tables = ", ".join(f'"{table}"' for table in sorted(metadata.tables))
        care = self._care.execution_options(isolation_level="AUTOCOMMIT")
        with _server_failures_translated():
            async with care.connect() as connection:
                # Another process's pass that has the table may have gone by before our rows went: wait for it.
                await connection.execute(text(f"SET lock_timeout = {int(VACUUM_LOCK_S * 1000)}"))
                # By default few dead rows stay in the indexes, with their keys.
                await connection.execute(text(f"VACUUM (INDEX_CLEANUP ON) {tables}"))

    async def close(self) -> None:
        with _server_failures_translated():
            for engine in (self._writer, self._reader, self._care):
                await engine.dispose()


@contextmanager
def _server_failures_translated() -> Iterator[None]:
    """The driver's own too, which come as they are while it connects."""
    with call_failures_translated():
        try:
            yield
        except OSError as exc:
            wrong = encryption_failure(exc)
            if wrong is None:
                raise
            raise wrong from exc
        except asyncpg.PostgresError as exc:
            raise sql_states.of_state(exc.sqlstate or "") from exc
        except asyncpg.InterfaceError as exc:
            raise CatalogUnavailableError(sql_states.SILENT) from exc


@contextmanager
def _setting_named() -> Iterator[None]:
    """For whoever starts a process, not for its callers."""
    try:
        yield
    except CatalogUnavailableError as exc:
        if str(exc) != sql_states.SILENT:
            raise
        raise CatalogUnavailableError(f"{sql_states.SILENT} at DORMOUSE_{sql_states.SETTING}") from exc


@asynccontextmanager
async def _opened(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """The body's own failures pass as they are."""
    with _server_failures_translated():
        connection = await engine.connect()
    try:
        yield connection
    finally:
        with _server_failures_translated():
            await connection.close()


def _engine(address: Address, connections: int | None) -> AsyncEngine:
    """Without a bound, for upkeep: each connection for one use, and as long as it takes."""
    limits: dict[str, str] = {"application_name": "dormouse", "jit": "off"}
    arguments: dict[str, Any] = {"timeout": CONNECT_S, "server_settings": limits, **address.arguments}
    pool: dict[str, Any] = {"poolclass": NullPool}
    if connections is not None:
        limits["statement_timeout"] = str(int(STATEMENT_S * 1000))
        limits["lock_timeout"] = str(int(LOCK_S * 1000))
        limits["idle_in_transaction_session_timeout"] = str(int(IDLE_S * 1000))
        # Also for a server that went away without a word.
        arguments["command_timeout"] = STATEMENT_S + 1
        pool = {
            "pool_size": connections,
            "max_overflow": 0,
            "pool_timeout": POOL_TIMEOUT_S,
            "pool_pre_ping": True,
        }
    return create_async_engine(
        address.url,
        connect_args=arguments,
        hide_parameters=True,  # they are content
        **pool,
    )
