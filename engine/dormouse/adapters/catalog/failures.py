"""What the driver says, in the engine's own words: no driver type and no foreign text leaves the adapter."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from dormouse.adapters.catalog import sql_states
from dormouse.errors import (
    CatalogUnavailableError,
    ConflictError,
    DormouseError,
    InvalidInputError,
    NotFoundError,
    OverloadedError,
)

DAMAGED = (
    "the catalog file is damaged; stop this process, keep the file, and put a backup of the data folder in "
    "its place: nothing was overwritten"
)
FULL = "the disk that holds the catalog is full; free some space"
READ_ONLY = "the catalog cannot be written: its folder or disk is read-only for this user"
UNREADABLE = "the catalog cannot be read or written: its disk fails, is full, or a file has reached its limit"
MISSING = "the catalog cannot be opened: its file is missing or its folder is not accessible for this user"
BUSY = "another process holds the catalog"
UNPREPARED = "the catalog's schema is not this version's; start the server once, which brings it up to date"
REFUSED = sql_states.REFUSED

# By primary result code: the low byte of the extended one.
_MESSAGES = {
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_NOTADB: DAMAGED,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_PERM: READ_ONLY,
    sqlite3.SQLITE_IOERR: UNREADABLE,
    sqlite3.SQLITE_CANTOPEN: MISSING,
    sqlite3.SQLITE_BUSY: BUSY,
    sqlite3.SQLITE_LOCKED: BUSY,
    sqlite3.SQLITE_ERROR: UNPREPARED,
    sqlite3.SQLITE_SCHEMA: UNPREPARED,
}


@contextmanager
def driver_failures_translated() -> Iterator[None]:
    """Turn whatever the driver raises inside into an error of the engine."""
    try:
        yield
    except PoolTimeoutError as exc:
        raise OverloadedError("too many readers of the catalog at once") from exc
    except DBAPIError as exc:
        raise translated(exc.orig) from exc
    except sqlite3.Error as exc:
        raise translated(exc) from exc
    except SQLAlchemyError as exc:
        raise CatalogUnavailableError(REFUSED) from exc
    except UnicodeEncodeError as exc:
        raise InvalidInputError("text must be valid Unicode, without lone surrogates") from exc
    except OverflowError as exc:
        raise InvalidInputError("a number does not fit into 64 bits") from exc


@contextmanager
def call_failures_translated() -> Iterator[None]:
    """Around calls of the driver alone, since a server that is away shows as any other broken connection."""
    with driver_failures_translated():
        try:
            yield
        except OSError as exc:  # the driver's own patience is one too
            raise CatalogUnavailableError(sql_states.SILENT) from exc


def translated(failure: BaseException | None) -> DormouseError:
    """The engine's error for a driver's."""
    state = getattr(failure, "sqlstate", None)
    if isinstance(state, str):
        return sql_states.of_state(state)
    extended = getattr(failure, "sqlite_errorcode", None)
    if not isinstance(extended, int):
        return _without_code(failure)
    primary = extended & 0xFF
    if primary == sqlite3.SQLITE_CONSTRAINT:
        return _broken_rule(extended)
    return CatalogUnavailableError(_MESSAGES.get(primary, REFUSED))


def _broken_rule(extended: int) -> DormouseError:
    if extended == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
        return NotFoundError("what this belongs to does not exist")
    return ConflictError("something of this name exists already")


def _without_code(failure: BaseException | None) -> DormouseError:
    cause = None if failure is None else failure.__cause__
    if isinstance(cause, ValueError):  # the driver for PostgreSQL refused a value before it sent anything
        return InvalidInputError(sql_states.UNFIT)
    is_silent = isinstance(cause, OSError) or "Interface" in type(failure).__name__
    return CatalogUnavailableError(sql_states.SILENT if is_silent else REFUSED)
