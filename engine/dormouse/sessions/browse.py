"""Reading and ending one's own sessions. A session of somebody else and one that never was look the same."""

from collections.abc import Sequence
from typing import Any

from dormouse.errors import NotFoundError
from dormouse.ids import SessionEntryId
from dormouse.model.scope import Scope
from dormouse.model.session import SessionEntry, SessionPage, SessionSummary
from dormouse.ports.catalog.transaction import Catalog


async def list_sessions(
    catalog: Catalog, scope: Scope, *, after: tuple[int, str] | None, limit: int
) -> SessionPage:
    async with catalog.reading() as tx:
        return await tx.sessions.sessions(scope.principal, after=after, limit=limit)


async def read_session(
    catalog: Catalog, scope: Scope, name: str, *, before: tuple[int, SessionEntryId] | None, limit: int
) -> tuple[SessionSummary, Sequence[SessionEntry]]:
    """The session and its newest entries. Reading it is no use of it: its expiry stays."""
    async with catalog.reading() as tx:
        summary = await tx.sessions.session(scope.principal, name)
        entries = await tx.sessions.entries(scope.principal, name, limit, before=before)
    if summary is None:
        raise NotFoundError("session not found")
    return summary, entries


async def describe_entry(
    catalog: Catalog, scope: Scope, session: str, entry: SessionEntryId, details: dict[str, Any]
) -> SessionEntry:
    """Add to what is kept of an entry. Raises `NotFoundError`."""
    async with catalog.transaction() as tx:
        found = await tx.sessions.entry(scope.principal, session, entry)
        if found is None:
            raise NotFoundError("no such entry in this session")
        await tx.sessions.describe(entry, {**found.details, **details})
        await tx.commit()
    return found


async def forget_session(catalog: Catalog, scope: Scope, name: str) -> int:
    """How many entries there were; gone from the files when it returns. Ending what is gone succeeds."""
    async with catalog.transaction() as tx:
        erased = await tx.sessions.erase(owner=scope.principal, session=name)
        await tx.commit()
    if erased:
        await catalog.scrub()
    return erased.get(scope.principal, 0)
