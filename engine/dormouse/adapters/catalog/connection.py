"""The statements of one transaction: what every concern of the catalog works through.

Errors are translated here, and a transaction that ended takes no more statements.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Executable, Row, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from dormouse.adapters.catalog.failures import driver_failures_translated

MAX_VALUES = 500  # in one IN list; drivers bound the parameters of a statement

Value = TypeVar("Value")


class CatalogConnection:
    """`now_ms` is the catalog's clock at the begin, the same for the whole transaction."""

    def __init__(self, connection: AsyncConnection, now_ms: int, *, may_write: bool) -> None:
        self._connection = connection
        self._may_write = may_write
        self._is_open = True
        self.now_ms = now_ms

    async def run(self, statement: Executable, parameters: Sequence[Mapping[str, Any]] | None = None) -> int:
        """Execute and return how many rows it touched; with `parameters`, once for each."""
        if parameters is not None and not parameters:
            return 0
        self._require_writing()
        with driver_failures_translated():
            result = await self._connection.execute(statement, parameters)
            return int(result.rowcount)

    async def rows(self, statement: Executable) -> Sequence[Row[*tuple[Any, ...]]]:
        self._require_open()
        with driver_failures_translated():
            return (await self._connection.execute(statement)).all()

    async def row(self, statement: Executable) -> Row[*tuple[Any, ...]] | None:
        """The first row, if there is one."""
        self._require_open()
        with driver_failures_translated():
            return (await self._connection.execute(statement)).first()

    async def value(self, statement: Executable) -> Any:  # noqa: ANN401  a column of any type
        """The first column of the first row; None if there is none."""
        self._require_open()
        with driver_failures_translated():
            return (await self._connection.execute(statement)).scalar()

    async def insert_if_absent(self, table: Table, values: Mapping[str, Any]) -> bool:
        """Insert unless the primary key is there; whether it was inserted."""
        statement = self._insert(table).values(**values)
        keys = list(table.primary_key.columns)
        return await self.run(statement.on_conflict_do_nothing(index_elements=keys)) > 0

    async def put(self, table: Table, values: Mapping[str, Any]) -> None:
        """Insert, or replace the given columns of the row with this primary key."""
        statement = self._insert(table).values(**values)
        keys = {column.name for column in table.primary_key.columns}
        fresh = {name: value for name, value in values.items() if name not in keys}
        await self.run(
            statement.on_conflict_do_update(index_elements=list(table.primary_key.columns), set_=fresh)
        )

    async def add_up(self, table: Table, column: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert each row, or add its `column` to that of the row with the same primary key."""
        statement = self._insert(table)
        total: ColumnElement[int] = table.c[column] + statement.excluded[column]
        await self.run(
            statement.on_conflict_do_update(
                index_elements=list(table.primary_key.columns), set_={column: total}
            ),
            rows,
        )

    async def commit(self) -> None:
        self._require_writing()
        self._is_open = False
        with driver_failures_translated():
            await self._connection.commit()

    def _insert(self, table: Table) -> "sqlite.Insert":
        # The one statement the two dialects spell alike but name apart.
        if self._connection.dialect.name == "postgresql":
            return postgresql.insert(table)  # type: ignore[return-value]  # same methods, see above
        return sqlite.insert(table)

    def _require_writing(self) -> None:
        if not self._may_write:
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
