"""The graph in one SQLite file of its own, for the form that runs in one process.

What `write` and `erase` acknowledged is there after SIGKILL and after a power cut: every commit reaches the
disk (`synchronous=FULL`). The weaker NORMAL would survive SIGKILL too, but the catalog notes a change as
applied right after, and a graph that a power cut sets back behind the catalog would miss passages silently;
one fsync a change is little beside embedding it.

What `erase` removed is in no file when it returns. `secure_delete` overwrites freed cells, but where pages
were balanced it leaves copies behind (seen once in two hundred erasures), so the file is rewritten from its
live rows, and the write-ahead log is copied back and cut to nothing. A read that holds the log up makes
`erase` wait, then fail as unavailable; repeating it finishes the job.
Source: writes §3 and §5.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Self

from sqlalchemy import URL, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from dormouse.adapters.graph_store import rows as rows_of
from dormouse.adapters.graph_store import sqlite_conditions as asked
from dormouse.adapters.graph_store import sqlite_schema as sql
from dormouse.adapters.graph_store.writable import assert_rows_writable, assert_writable
from dormouse.errors import (
    InvalidInputError,
    LeaseLostError,
    MisconfiguredError,
    StoreUnavailableError,
)
from dormouse.ids import DocumentId, PassageId, WorkspaceId
from dormouse.model.change import Erasure
from dormouse.model.entity import Entity
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.model.scope import Fence, Scope
from dormouse.ports.graph_store import ClaimQuery, GraphCounts, GraphRows, MemoryQuery

FILE_NAME = "graph.sqlite3"
READERS = 3  # connections, one thread each
REBUILT_RETRY_S = 5
BUSY_TIMEOUT_S = 5.0  # for the lock, and for readers that hold the log up; adapters answer within 10 s
PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "secure_delete = ON",
    "temp_store = MEMORY",  # a temporary file would hold content outside the data folder
    "cache_size = -32768",  # KiB
)
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_REMEDY = "`dormouse rebuild` makes it anew"
_DAMAGE = f"the graph file is damaged: {_REMEDY}"
_LOST = f"the graph file is missing or empty, but the catalog knows of memories in it: {_REMEDY}"

_NEWER = f"the graph was made by a newer Dormouse: start that one or newer; {_REMEDY}"


class SqliteGraphStore:
    """Made by `open`. One writer at a time, reads beside it; ends with `close`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writer = _engine(folder / FILE_NAME, connections=1)
        self._readers = _engine(folder / FILE_NAME, connections=READERS)
        self._is_partial = False

    @classmethod
    async def open(cls, folder: Path, *, must_exist: bool = False) -> Self:
        """Make or open the file in `folder`, never make it where `must_exist`.

        Raises `MisconfiguredError` for a damaged, lost or newer file.
        """
        await asyncio.to_thread(_found if must_exist else _made, folder)
        store = cls(folder)
        try:
            await store._prepare(must_exist=must_exist)
        except BaseException:
            await store.close()
            raise
        return store

    @classmethod
    async def open_anew(cls, folder: Path) -> Self:
        """In place of whatever is there, sound or not: empty, and refused to readers until it is complete."""
        store = cls(folder)
        await store.renew()
        return store

    async def renew(self) -> None:
        await self.close()
        await asyncio.to_thread(_remove, self._folder)
        await asyncio.to_thread(_made, self._folder)
        self._writer = _engine(self._folder / FILE_NAME, connections=1)
        self._readers = _engine(self._folder / FILE_NAME, connections=READERS)
        await self._prepare(must_exist=False)
        async with self._immediate() as connection:
            await connection.exec_driver_sql(sql.MARK_PARTIAL)
        self._is_partial = True

    async def reached(self, workspace: WorkspaceId) -> int:
        """The last change of the workspace that is in here: it was committed with its marker, and in order."""
        found = await self._read_anyway(sql.LAST_APPLIED, {"workspace": workspace})
        return int(found[0][0] or 0)

    async def complete(self) -> None:
        async with self._immediate() as connection:
            await connection.exec_driver_sql(sql.MARK_WHOLE)
        self._is_partial = False

    async def write(self, scope: Scope, fence: Fence, rows: GraphRows) -> None:
        assert_rows_writable(scope, fence, rows)
        async with self.changing(fence) as connection:
            for statement, parameters in _upserts(fence, rows):
                if parameters:
                    await connection.exec_driver_sql(statement, parameters)
            for version, at_ms in rows.closed.items():
                values = {"id": version, "at": at_ms, "workspace": fence.workspace, "seq": fence.seq}
                await connection.exec_driver_sql(sql.CLOSE_VERSION, values)

    async def erase(self, scope: Scope, fence: Fence, what: Erasure, *, is_forgetting: bool = True) -> None:
        assert_writable(scope, fence, {what.dataset})
        values = asked.parameters_of(what, fence.seq) | {"workspace": fence.workspace}
        async with self.changing(fence) as connection:
            condition, wide = asked.condition_of(what), asked.wide_condition_of(what)
            for statement in sql.erase_statements(condition, wide):
                if (await connection.exec_driver_sql(statement, values)).rowcount > 0:
                    await connection.exec_driver_sql(sql.MARK_UNCLEAN)
        if is_forgetting:
            await self.clean()

    async def adopt(self, workspace: WorkspaceId, epoch: int) -> None:
        async with self._immediate() as connection:
            await _assert_epoch(connection, workspace, epoch)
            await connection.exec_driver_sql(sql.STORE_EPOCH, {"workspace": workspace, "epoch": epoch})

    async def passages(self, scope: Scope, ids: Collection[PassageId]) -> Sequence[Passage]:
        found = await self.read(sql.PASSAGES_BY_ID, asked.seen_by(scope) | {"ids": asked.array(ids)})
        return [rows_of.passage_of_row(row) for row in found]

    async def passages_of(
        self, scope: Scope, document: DocumentId, *, after_order: int = -1, limit: int = 200
    ) -> Sequence[Passage]:
        values = asked.seen_by(scope) | {"document": document, "after": after_order, "limit": limit}
        return [rows_of.passage_of_row(row) for row in await self.read(sql.PASSAGES_OF_DOCUMENT, values)]

    async def matching(self, scope: Scope, what: Erasure, *, limit: int) -> Sequence[Passage]:
        statement = sql.matching_passages(asked.condition_of(what))
        values = asked.seen_by(scope) | asked.parameters_of(what) | {"limit": limit}
        return [rows_of.passage_of_row(row) for row in await self.read(statement, values)]

    async def memories(self, scope: Scope, query: MemoryQuery | ClaimQuery) -> Sequence[MemoryVersion]:
        if isinstance(query, ClaimQuery):
            of_claims: dict[str, object] = {
                "claims": asked.pairs(query.of),
                "known_at": query.known_at_ms,
            }
            of_claims |= asked.seen_by(scope) | {"limit": query.limit}
            found = await self.read(sql.VERSIONS_OF_CLAIMS, of_claims)
            return [rows_of.version_of_row(row) for row in found]
        values = {
            "passages": asked.array(query.passages),
            "known_at": query.known_at_ms,
            "valid_at": query.valid_at_ms,
        }
        found = await self.read(sql.VERSIONS_OF_PASSAGES, asked.seen_by(scope) | values)
        return [rows_of.version_of_row(row) for row in found]

    async def entities_in(
        self, scope: Scope, passages: Collection[PassageId]
    ) -> Sequence[tuple[Entity, PassageId]]:
        values = asked.seen_by(scope) | {"passages": asked.array(passages)}
        found = await self.read(sql.ENTITIES_OF_PASSAGES, values)
        return [(rows_of.entity_of_row(row), PassageId(row[-1])) for row in found]

    async def count(self, scope: Scope, what: Erasure | None = None) -> GraphCounts:
        if what is None:
            found = await self._read_anyway(sql.count_all(), asked.seen_by(scope))
        else:
            statement = sql.count_matching(asked.condition_of(what), asked.wide_condition_of(what))
            found = await self._read_anyway(statement, asked.seen_by(scope) | asked.parameters_of(what))
        passages, entities, versions, derived = found[0]
        return GraphCounts(passages=passages, entities=entities, versions=versions, derived=derived)

    async def close(self) -> None:
        with _translated():
            await self._readers.dispose()
            await self._writer.dispose()

    async def _prepare(self, *, must_exist: bool) -> None:
        async with self._immediate() as connection:
            version = (await connection.exec_driver_sql("PRAGMA user_version")).scalar_one()
            if version > sql.VERSION:
                raise MisconfiguredError(_NEWER)
            if version == 0 and must_exist:
                raise MisconfiguredError(_LOST)
            for older in range(version, sql.VERSION) if version else ():
                for statement in sql.UPGRADES[older]:
                    await connection.exec_driver_sql(statement)
            for statement in sql.TABLES:
                await connection.exec_driver_sql(statement)
            await connection.exec_driver_sql(f"PRAGMA user_version = {sql.VERSION}")
            self._is_partial = bool((await connection.exec_driver_sql(sql.IS_PARTIAL)).scalar())
        await self.clean()

    async def read(self, statement: str, values: Mapping[str, Any]) -> Sequence[rows_of.Row]:
        """For the modules of this adapter; `sqlite_schema` has the statements."""
        if self._is_partial:
            # It may hold what later changes took out again.
            raise StoreUnavailableError(port="graph", retry_after_s=REBUILT_RETRY_S, is_rebuilt=True)
        return await self._read_anyway(statement, values)

    async def _read_anyway(self, statement: str, values: Mapping[str, Any]) -> Sequence[rows_of.Row]:
        with _translated():
            async with self._readers.connect() as connection:
                # Straight to the driver: one hop to its thread instead of four, half the time of a hydration.
                driver = (await connection.get_raw_connection()).driver_connection
                assert driver is not None
                rows: Sequence[rows_of.Row] = await driver.execute_fetchall(statement, values)
                return rows

    @asynccontextmanager
    async def changing(self, fence: Fence) -> AsyncIterator[AsyncConnection]:
        """Everything of one change, its marker included, or nothing."""
        async with self._immediate() as connection:
            await _assert_epoch(connection, fence.workspace, fence.epoch)
            yield connection
            marker = {"workspace": fence.workspace, "seq": fence.seq}
            await connection.exec_driver_sql(sql.MARK_APPLIED, marker)

    @asynccontextmanager
    async def _immediate(self) -> AsyncIterator[AsyncConnection]:
        with _translated():
            async with self._writer.connect() as connection:
                await connection.exec_driver_sql("BEGIN IMMEDIATE")
                try:
                    yield connection
                except BaseException:
                    await connection.exec_driver_sql("ROLLBACK")
                    raise
                await connection.exec_driver_sql("COMMIT")

    async def clean(self) -> None:
        """Rewrite the file if rows went since it last was; also what an erase that a crash cut short left.

        For the modules of this adapter.
        """
        async with self._immediate() as connection:
            if not (await connection.exec_driver_sql(sql.IS_UNCLEAN)).scalar():
                return
        with _translated():
            async with self._writer.connect() as connection:
                await connection.exec_driver_sql("VACUUM")
        await self._cut_log()
        async with self._immediate() as connection:
            await connection.exec_driver_sql(sql.MARK_CLEAN)

    async def _cut_log(self) -> None:
        with _translated():
            async with self._writer.connect() as connection:
                blocked = (await connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")).one()[0]
        if blocked:
            raise StoreUnavailableError(port="graph")


def _engine(path: Path, *, connections: int) -> AsyncEngine:
    engine = create_async_engine(
        URL.create("sqlite+aiosqlite", database=str(path)),
        isolation_level="AUTOCOMMIT",  # transactions are begun by us, so that they can be IMMEDIATE
        connect_args={"timeout": BUSY_TIMEOUT_S},
        pool_size=connections,
        pool_use_lifo=True,  # the one whose pages are still at hand
        max_overflow=0,
        pool_timeout=2 * BUSY_TIMEOUT_S,
        hide_parameters=True,  # they are content
    )
    event.listen(engine.sync_engine, "connect", _set_up)
    return engine


def _remove(folder: Path) -> None:
    with _translated():
        for suffix in ("", "-wal", "-shm"):
            (folder / (FILE_NAME + suffix)).unlink(missing_ok=True)


def _found(folder: Path) -> None:
    """Looked for before it is opened: opening gives an empty file a head, and then it looks sound."""
    path = folder / FILE_NAME
    with _translated():
        if not path.exists() or path.stat().st_size == 0:
            raise MisconfiguredError(_LOST)


def _made(folder: Path) -> None:
    with _translated():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / FILE_NAME
        path.touch(mode=0o600)


def _set_up(connection: DBAPIConnection, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _upserts(fence: Fence, rows: GraphRows) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    workspace, seq = fence.workspace, fence.seq
    yield sql.UPSERT_PASSAGE, [rows_of.row_of_passage(one, seq) for one in rows.passages]
    yield sql.UPSERT_ENTITY, [rows_of.row_of_entity(one, workspace, seq) for one in rows.entities]
    yield sql.UPSERT_VERSION, [rows_of.row_of_version(one, workspace, seq) for one in rows.versions]
    yield sql.INSERT_MENTION, [(workspace, *one) for one in rows_of.mentions_of(rows)]
    yield (
        sql.INSERT_RELATION,
        [(workspace, one.source, one.name, one.target, one.passage) for one in rows.relations],
    )


async def _assert_epoch(connection: AsyncConnection, workspace: WorkspaceId, epoch: int) -> None:
    stored = (await connection.exec_driver_sql(sql.READ_EPOCH, {"workspace": workspace})).scalar()
    if stored is not None and epoch < stored:
        raise LeaseLostError("a successor holds the lease of this workspace")


@contextmanager
def _translated() -> Iterator[None]:
    """No driver's error leaves; a damaged file is told from a passing trouble by its code."""
    try:
        yield
    except UnicodeEncodeError as exc:
        raise InvalidInputError("text must be valid Unicode, without lone surrogates") from exc
    except (DBAPIError, sqlite3.Error) as exc:
        cause = exc.orig if isinstance(exc, DBAPIError) else exc
        if getattr(cause, "sqlite_errorname", "").startswith(_DAMAGED):
            raise MisconfiguredError(_DAMAGE) from exc
        is_full = getattr(cause, "sqlite_errorname", "") == "SQLITE_FULL"
        raise StoreUnavailableError(port="graph", is_full=is_full) from exc
    except (SQLAlchemyError, OSError) as exc:
        raise StoreUnavailableError(port="graph") from exc
