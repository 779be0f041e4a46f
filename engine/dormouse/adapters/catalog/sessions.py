"""Session entries; every read is of one owner."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, delete, exists, func, select, update

from dormouse.adapters.catalog.connection import CatalogConnection, in_batches
from dormouse.adapters.catalog.tables import hidden, session_entries, session_quotes
from dormouse.ids import DatasetId, DocumentId, PrincipalId, SessionEntryId
from dormouse.model.session import SessionEntry

_QUOTES_HIDDEN = (
    exists()
    .where(session_quotes.c.entry == session_entries.c.id)
    .where(session_quotes.c.document == hidden.c.target, hidden.c.is_active == 1)
)


class SqlSessionBook:
    def __init__(self, connection: CatalogConnection) -> None:
        self._connection = connection

    async def add(self, entry: SessionEntry) -> None:
        await self._connection.insert(
            session_entries,
            {
                "id": entry.id,
                "owner": entry.owner,
                "session": entry.session,
                "dataset": entry.dataset,
                "text": entry.text,
                "created_ms": entry.created_ms,
                "expires_ms": entry.expires_ms,
            },
        )
        quotes = [{"entry": entry.id, "document": document} for document in dict.fromkeys(entry.quotes)]
        await self._connection.insert(session_quotes, *quotes)

    async def entries(self, owner: PrincipalId, session: str, limit: int) -> Sequence[SessionEntry]:
        rows = await self._connection.rows(
            select(session_entries)
            .where(
                session_entries.c.owner == owner,
                session_entries.c.session == session,
                session_entries.c.expires_ms > self._connection.now_ms,
                ~_QUOTES_HIDDEN,
            )
            .order_by(session_entries.c.created_ms.desc(), session_entries.c.id.desc())
            .limit(limit)
        )
        quotes = await self._quotes([row.id for row in rows])
        return [_entry(row, tuple(quotes.get(row.id, ()))) for row in rows]

    async def touch(self, owner: PrincipalId, session: str, expires_ms: int) -> None:
        await self._connection.run(
            update(session_entries)
            .where(
                session_entries.c.owner == owner,
                session_entries.c.session == session,
                session_entries.c.expires_ms > self._connection.now_ms,
            )
            .values(expires_ms=expires_ms)
        )

    async def erase(
        self,
        *,
        owner: PrincipalId | None = None,
        dataset: DatasetId | None = None,
        document: DocumentId | None = None,
    ) -> Mapping[PrincipalId, int]:
        if sum(given is not None for given in (owner, dataset, document)) != 1:
            raise ValueError("exactly one of owner, dataset and document is given")
        if owner is not None:
            condition = session_entries.c.owner == owner
        elif dataset is not None:
            condition = session_entries.c.dataset == dataset
        else:
            condition = session_entries.c.id.in_(
                select(session_quotes.c.entry).where(session_quotes.c.document == document)
            )
        counted = (
            select(session_entries.c.owner, func.count().label("entries"))
            .where(condition)
            .group_by(session_entries.c.owner)
        )
        found = {PrincipalId(row.owner): int(row.entries) for row in await self._connection.rows(counted)}
        await self._connection.run(delete(session_entries).where(condition))
        return found

    async def expire(self) -> int:
        return await self._connection.run(
            delete(session_entries).where(session_entries.c.expires_ms <= self._connection.now_ms)
        )

    async def sessions(self, owner: PrincipalId) -> Sequence[str]:
        rows = await self._connection.rows(
            select(session_entries.c.session)
            .where(session_entries.c.owner == owner, session_entries.c.expires_ms > self._connection.now_ms)
            .group_by(session_entries.c.session)
            .order_by(func.max(session_entries.c.created_ms).desc(), session_entries.c.session)
        )
        return [row.session for row in rows]

    async def _quotes(self, entries: list[str]) -> dict[str, list[DocumentId]]:
        quotes: dict[str, list[DocumentId]] = {}
        for batch in in_batches(entries):
            rows = await self._connection.rows(
                select(session_quotes)
                .where(session_quotes.c.entry.in_(batch))
                .order_by(session_quotes.c.document)
            )
            for row in rows:
                quotes.setdefault(row.entry, []).append(DocumentId(row.document))
        return quotes


def _entry(row: Row[*tuple[Any, ...]], quotes: tuple[DocumentId, ...]) -> SessionEntry:
    return SessionEntry(
        id=SessionEntryId(row.id),
        owner=PrincipalId(row.owner),
        session=row.session,
        dataset=None if row.dataset is None else DatasetId(row.dataset),
        text=row.text,
        quotes=quotes,
        created_ms=row.created_ms,
        expires_ms=row.expires_ms,
    )
