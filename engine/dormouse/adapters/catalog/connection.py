"""The statements of one transaction: what every concern of the catalog works through.

Errors are translated here, and a transaction that ended takes no more statements.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any, Literal, TypeVar

from sqlalchemy import ColumnElement, Connection, CursorResult, Executable, Row, Table, bindparam, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from dormouse.adapters.catalog.failures import call_failures_translated

MAX_VALUES = 500  # in one IN list; drivers bound the parameters of a statement

Value = TypeVar("Value")


class CatalogConnection:
    """`now_ms` is the catalog's clock at the begin, the same for the whole transaction; `is_asking` says that a
    statement is under way.

    On a blocking connection no method ever waits, so that a whole transaction can run in one thread.
    """

    def __init__(self, connection: AsyncConnection | Connection, now_ms: int, *, may_write: bool) -> None:
        self._connection = connection
        self._is_open = True
        self.may_write = may_write
        self.is_asking = False
        self.now_ms = now_ms

    async def run(self, statement: Executable, parameters: Sequence[Mapping[str, Any]] | None = None) -> int:
        """Execute and return how many rows it touched; with `parameters`, once for each."""
        if parameters is not None and not parameters:
            return 0
        self._require_writing()
        with call_failures_translated():
            # One row is not "many": only then does the driver say how many rows it touched.
            given = parameters[0] if parameters and len(parameters) == 1 else parameters
            result = await self._execute(statement, given)
            return int(result.rowcount)

    async def rows(
        self, statement: Executable, parameters: Mapping[str, Any] | None = None
    ) -> Sequence[Row[*tuple[Any, ...]]]:
        self._require_open()
        with call_failures_translated():
            return (await self._execute(statement, parameters)).all()

    async def row(
        self, statement: Executable, parameters: Mapping[str, Any] | None = None
    ) -> Row[*tuple[Any, ...]] | None:
        """The first row, if there is one."""
        self._require_open()
        with call_failures_translated():
            return (await self._execute(statement, parameters)).first()

    async def value(self, statement: Executable, parameters: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401  a column of any type
        """The first column of the first row; None if there is none."""
        self._require_open()
        with call_failures_translated():
            return (await self._execute(statement, parameters)).scalar()

    async def insert(self, table: Table, *rows: Mapping[str, Any]) -> None:
        """A row whose key is there already is a `ConflictError`."""
        await self.run(_insertion(table, self._dialect, "fail"), rows)

    async def insert_if_absent(self, table: Table, values: Mapping[str, Any]) -> bool:
        """Insert unless the primary key is there; whether it was inserted."""
        return await self.run(_insertion(table, self._dialect, "keep"), [values]) > 0

    async def put(self, table: Table, values: Mapping[str, Any]) -> None:
        """Insert, or replace the row with this primary key; every column is given."""
        await self.run(_insertion(table, self._dialect, "replace"), [values])

    async def add_up(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert each row, or add its other columns to those of the row with the same primary key."""
        await self.run(_insertion(table, self._dialect, "add"), rows)

    async def update(self, table: Table, key: Mapping[str, Any], columns: Mapping[str, Any]) -> int:
        """Set columns of the rows with these key columns; how many there were."""
        named = {f"key_{name}": value for name, value in key.items()}
        return await self.run(_change_of(table, tuple(key)), [{**named, **columns}])

    async def commit(self) -> None:
        self._require_writing()
        self._is_open = False
        with call_failures_translated():
            if not isinstance(self._connection, AsyncConnection):
                self._connection.commit()
                return
            with self._asking():
                await self._connection.commit()

    async def _execute(
        self, statement: Executable, parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> CursorResult[*tuple[Any, ...]]:
        if not isinstance(self._connection, AsyncConnection):
            return self._connection.execute(statement, parameters)
        with self._asking():
            return await self._connection.execute(statement, parameters)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        self.is_asking = True
        try:
            yield
        finally:
            self.is_asking = False

    @property
    def _dialect(self) -> str:
        return self._connection.dialect.name

    def _require_writing(self) -> None:
        if not self.may_write:
            raise RuntimeError("a reading catalog transaction cannot write")
        self._require_open()

    def _require_open(self) -> None:
        if not self._is_open:
            raise RuntimeError("this catalog transaction has been committed")


def in_batches(values: Iterable[Value]) -> Iterator[list[Value]]:
    """Each value once, at most `MAX_VALUES` at a time."""
    rest = iter(dict.fromkeys(values))
    while batch := list(islice(rest, MAX_VALUES)):
        yield batch


# Statements that never vary are made once: building one costs more than SQLite needs to run it.
@cache
def _insertion(table: Table, dialect: str, conflict: Literal["fail", "keep", "replace", "add"]) -> Executable:
    # Both dialects have the clause, with the same methods under two names.
    statement = postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
    keys = list(table.primary_key.columns)
    others = [column.name for column in table.columns if not column.primary_key]
    if conflict == "fail":
        return statement
    if conflict == "keep":
        return statement.on_conflict_do_nothing(index_elements=keys)
    fresh: dict[str, ColumnElement[Any]] = {name: statement.excluded[name] for name in others}
    if conflict == "add":
        fresh = {name: table.c[name] + fresh[name] for name in others}
    return statement.on_conflict_do_update(index_elements=keys, set_=fresh)


@cache
def _change_of(table: Table, key: tuple[str, ...]) -> Executable:
    return update(table).where(*(table.c[name] == bindparam(f"key_{name}") for name in key))
