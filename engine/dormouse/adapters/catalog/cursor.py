"""A cursor for aiosqlite that crosses to the connection's thread once per statement, twice for rows.

SQLAlchemy's own crosses for opening, executing, fetching and closing; each crossing costs more than SQLite
needs for the statement, and a transaction of a write has a dozen.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_connection, AsyncAdapt_aiosqlite_cursor


class _Cursor(AsyncAdapt_aiosqlite_cursor):
    """Opened by its statement, emptied at once, and left to be collected: nothing then holds the statement."""

    __slots__ = ("_found",)

    def __init__(self, adapt_connection: AsyncAdapt_aiosqlite_connection) -> None:  # no super: it opens one
        self._adapt_connection = adapt_connection
        self._connection = adapt_connection._connection  # noqa: SLF001  as the base class does
        self._rows = deque()
        self._found: Any = None

    @property
    def description(self) -> Any:  # noqa: ANN401  the driver's own
        return None if self._found is None else self._found.description

    @property
    def rowcount(self) -> int:
        return -1 if self._found is None else int(self._found.rowcount)

    @property
    def lastrowid(self) -> int:
        return 0 if self._found is None else int(self._found.lastrowid or 0)

    async def _async_soft_close(self) -> None:
        return None

    def close(self) -> None:
        self._rows.clear()

    async def _execute_async(self, operation: Any, parameters: Any) -> Any:  # noqa: ANN401  the base's own
        self._found = await self._connection.execute(operation, parameters or ())
        if self._found.description:
            self._rows = deque(await self._found.fetchall())
        return self._found

    async def _executemany_async(self, operation: Any, seq_of_parameters: Any) -> Any:  # noqa: ANN401
        self._found = await self._connection.executemany(operation, seq_of_parameters)
        return self._found


class FewCrossingsConnection(AsyncAdapt_aiosqlite_connection):
    __slots__ = ()
    _cursor_cls = _Cursor  # type: ignore[assignment]  # inferred too narrowly in the base class


def connect(dialect: Any, _record: object, arguments: Sequence[Any], options: dict[str, Any]) -> Any:  # noqa: ANN401
    """Listens to `do_connect`, whose types SQLAlchemy leaves open."""
    adapted = dialect.loaded_dbapi.connect(*arguments, **options)
    return FewCrossingsConnection(adapted.dbapi, adapted.driver_connection)
