"""SQLite as the catalog: one file, write-ahead log, one writer at a time, readers on snapshots.

Writers of this process take turns before they ask SQLite, because its own waiting polls and is not fair;
other processes are kept out by BEGIN IMMEDIATE. What was committed survives a loss of power
(synchronous=FULL), and what was deleted is overwritten (secure_delete, and `scrub` for the rest).
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event, make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from dormouse.adapters.catalog import failures
from dormouse.adapters.catalog.cursor import connect
from dormouse.adapters.catalog.failures import driver_failures_translated
from dormouse.adapters.catalog.migrations.upgrade import upgrade
from dormouse.adapters.catalog.one_crossing import OneCrossing
from dormouse.clock import Clock
from dormouse.errors import CatalogUnavailableError, MisconfiguredError

BUSY_TIMEOUT_S = 5.0  # for another process's write, or a checkpoint that waits for readers
MAX_READERS = 8  # connections, each a thread; more readers wait their turn
POOL_TIMEOUT_S = 5.0
READ_THREADS = 2  # for whole reading transactions: a fraction of a millisecond each

Result = TypeVar("Result")

_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "secure_delete=ON",
    "temp_store=MEMORY",  # sorted rows are content and must not touch the disk
)


class SqliteBackend:
    """The engines over one catalog file, which exists only once `migrate` made it."""

    def __init__(self, url: str, clock: Clock) -> None:
        self._clock = clock
        database = make_url(url).database
        if not database or database == ":memory:":
            raise MisconfiguredError("the catalog needs a file", setting="DATABASE__URL")
        self._path = Path(database).absolute()
        self._writer = _engine(self._path, "rw", begin="BEGIN IMMEDIATE", connections=1)
        self._reader = _engine(self._path, "rw", begin="BEGIN", connections=MAX_READERS)
        self._write = OneCrossing(
            _blocking_engine(self._path, begin="BEGIN IMMEDIATE", connections=1), 1, "write"
        )
        self._read = OneCrossing(
            _blocking_engine(self._path, begin="BEGIN", connections=READ_THREADS), READ_THREADS, "read"
        )
        self._turn = asyncio.Lock()
        self._was_examined = False

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        async with self._turn, _opened(self._writer) as connection:
            yield connection

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        async with _opened(self._reader) as connection:
            yield connection

    async def write(self, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        async with self._turn:
            return await self._write.run(work)

    async def read(self, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        return await self._read.run(work)

    @asynccontextmanager
    async def duty(self, _name: str) -> AsyncIterator[bool]:
        """Always: one process owns the file's folder."""
        yield True

    async def now_ms(self, _connection: AsyncConnection | Connection) -> int:
        return self._clock.now_ms()

    async def migrate(self) -> None:
        """Safe while another process does the same: either makes the file, one changes it at a time."""
        if not self._path.exists():
            await self._create()
        await self.check()
        async with self.writing() as connection:
            with driver_failures_translated():
                await connection.run_sync(upgrade)
                await connection.commit()

    async def check(self) -> None:
        """Every page once per process, then only that it can be read: damage later shows where it is met."""
        if self._path.exists() and self._path.stat().st_size == 0:
            # `_create` never leaves an empty file: this one lost its content.
            raise CatalogUnavailableError(failures.DAMAGED)
        async with self.reading() as connection:
            with driver_failures_translated():
                probe = "schema_version" if self._was_examined else "quick_check(1)"
                answer = (await connection.exec_driver_sql(f"PRAGMA {probe}")).scalar()
        if not self._was_examined and answer != "ok":
            raise CatalogUnavailableError(failures.DAMAGED)
        self._was_examined = True

    async def scrub(self) -> None:
        """Write the file anew without what was deleted, and cut the log to nothing.

        Overwriting deletes alone is not enough: when rows move between pages, their copies stay behind in
        the unused middle of a page, where a later delete does not find them.
        """
        async with self._turn, self._writer.connect() as connection:
            with driver_failures_translated():
                driver: Any = (await connection.get_raw_connection()).driver_connection
                await driver.execute("VACUUM")
                (row,) = await driver.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")
        if row[0]:
            raise CatalogUnavailableError(failures.BUSY)

    async def close(self) -> None:
        with driver_failures_translated():
            await asyncio.to_thread(self._read.close)
            await asyncio.to_thread(self._write.close)
            await self._reader.dispose()
            await self._writer.dispose()

    async def _create(self) -> None:
        """Make the file whole under another name first, so that an empty or half-made one is never met."""
        draft = self._path.with_name(f".{self._path.name}.{uuid4().hex}")
        try:
            _touch_private(draft)
            engine = _engine(draft, "rw", begin="BEGIN IMMEDIATE", connections=1)
            try:
                async with _opened(engine) as connection:
                    with driver_failures_translated():
                        await connection.run_sync(upgrade)
                        await connection.commit()
            finally:
                await engine.dispose()
            _publish(draft, self._path)
        finally:
            for suffix in ("", "-wal", "-shm", "-journal"):
                with contextlib.suppress(OSError):
                    draft.with_name(draft.name + suffix).unlink(missing_ok=True)


@asynccontextmanager
async def _opened(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    with driver_failures_translated():
        async with engine.connect() as connection:
            await connection.begin()
            yield connection


def _engine(path: Path, mode: str, *, begin: str, connections: int) -> AsyncEngine:
    engine = create_async_engine(
        _url("sqlite+aiosqlite", path, mode),
        connect_args={"timeout": BUSY_TIMEOUT_S, "isolation_level": None},
        pool_size=connections,
        max_overflow=0,
        pool_timeout=POOL_TIMEOUT_S,
        hide_parameters=True,  # they are content
    )
    event.listen(engine.sync_engine, "do_connect", connect)
    _prepare(engine.sync_engine, begin)
    return engine


def _blocking_engine(path: Path, *, begin: str, connections: int) -> Engine:
    engine = create_engine(
        _url("sqlite+pysqlite", path, "rw"),
        connect_args={"timeout": BUSY_TIMEOUT_S, "isolation_level": None, "check_same_thread": False},
        poolclass=QueuePool,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=POOL_TIMEOUT_S,
        hide_parameters=True,
    )
    _prepare(engine, begin)
    return engine


def _url(driver: str, path: Path, mode: str) -> URL:
    return URL.create(driver, database=path.as_uri(), query={"mode": mode, "uri": "true"})


def _prepare(engine: Engine, begin: str) -> None:

    def prepare(driver_connection: Any, _record: object) -> None:  # noqa: ANN401  the pool's own proxy
        cursor = driver_connection.cursor()
        for pragma in _PRAGMAS:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    def begin_so(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", begin_so)


def _touch_private(path: Path) -> None:
    """Its log and index get the rights of the file itself, so for this user alone."""
    try:
        path.touch(mode=0o600)
    except OSError as exc:
        raise CatalogUnavailableError(failures.MISSING) from exc


def _publish(draft: Path, path: Path) -> None:
    """Give the finished file its name, unless another process was first; never replaces a file."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError:
        _publish_without_links(draft, path)
    _sync_folder(path.parent)


def _publish_without_links(draft: Path, path: Path) -> None:
    try:
        if not path.exists():
            draft.rename(path)
    except FileExistsError:
        return
    except OSError as exc:
        raise CatalogUnavailableError(failures.READ_ONLY) from exc


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # Windows has no folders to sync
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
