"""Session entries; every read is of one owner."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, case, delete, exists, func, or_, select, update

from dormouse.adapters.catalog.connection import CatalogConnection, in_batches
from dormouse.adapters.catalog.jobs import answers_forgotten
from dormouse.adapters.catalog.tables import hidden, idempotency_keys, session_entries, session_quotes
from dormouse.ids import DatasetId, DocumentId, PrincipalId, SessionEntryId
from dormouse.model.session import TTL_MS, EntryKind, SessionEntry, SessionPage, SessionSummary

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
                "kind": entry.kind.value,
                "details": json.dumps(entry.details),
                "created_ms": entry.created_ms,
                "expires_ms": entry.expires_ms,
            },
        )
        quotes = [{"entry": entry.id, "document": document} for document in dict.fromkeys(entry.quotes)]
        await self._connection.insert(session_quotes, *quotes)

    async def entry(self, owner: PrincipalId, session: str, entry: SessionEntryId) -> SessionEntry | None:
        found = await self._found(self._alive(owner, session).where(session_entries.c.id == entry))
        return found[0] if found else None

    async def entries(
        self, owner: PrincipalId, session: str, limit: int, *, before: tuple[int, SessionEntryId] | None = None
    ) -> Sequence[SessionEntry]:
        statement = self._alive(owner, session)
        created, name = session_entries.c.created_ms, session_entries.c.id
        if before is not None:
            created_ms, last = before
            statement = statement.where(or_(created < created_ms, and_(created == created_ms, name < last)))
        return await self._found(statement.order_by(created.desc(), name.desc()).limit(limit))

    async def describe(self, entry: SessionEntryId, details: dict[str, Any]) -> None:
        await self._connection.update(session_entries, {"id": entry}, {"details": json.dumps(details)})

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
        session: str | None = None,
        dataset: DatasetId | None = None,
        document: DocumentId | None = None,
    ) -> Mapping[PrincipalId, int]:
        if sum(given is not None for given in (owner, dataset, document)) != 1:
            raise ValueError("exactly one of owner, dataset and document is given")
        if owner is not None:
            condition = session_entries.c.owner == owner
            if session is not None:
                condition = and_(condition, session_entries.c.session == session)
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
        await self._delete(condition)
        return found

    async def expire(self) -> int:
        return await self._delete(session_entries.c.expires_ms <= self._connection.now_ms)

    async def sessions(
        self, owner: PrincipalId, *, after: tuple[int, str] | None = None, limit: int = 50
    ) -> SessionPage:
        counted = select(self._summed(owner).subquery(), func.count().over().label("total")).subquery()
        expires, name = counted.c.expires_ms, counted.c.session
        statement = select(counted)
        if after is not None:
            expires_ms, last = after[0] + TTL_MS, after[1]
            statement = statement.where(or_(expires < expires_ms, and_(expires == expires_ms, name > last)))
        rows = await self._connection.rows(statement.order_by(expires.desc(), name).limit(limit))
        return SessionPage(tuple(_summary(row) for row in rows), rows[0].total if rows else 0)

    async def session(self, owner: PrincipalId, name: str) -> SessionSummary | None:
        row = await self._connection.row(self._summed(owner).where(session_entries.c.session == name))
        return None if row is None else _summary(row)

    def _alive(self, owner: PrincipalId, session: str) -> Select[*tuple[Any, ...]]:
        return select(session_entries).where(
            session_entries.c.owner == owner,
            session_entries.c.session == session,
            session_entries.c.expires_ms > self._connection.now_ms,
            ~_QUOTES_HIDDEN,
        )

    def _summed(self, owner: PrincipalId) -> Select[*tuple[Any, ...]]:
        is_trace = session_entries.c.kind == EntryKind.TRACE.value
        return (
            select(
                session_entries.c.session,
                func.max(session_entries.c.dataset).label("dataset"),
                func.min(session_entries.c.created_ms).label("started_ms"),
                func.max(session_entries.c.expires_ms).label("expires_ms"),
                func.count().label("entries"),
                func.sum(case((is_trace, 1), else_=0)).label("traces"),
            )
            .where(
                session_entries.c.owner == owner,
                session_entries.c.expires_ms > self._connection.now_ms,
                ~_QUOTES_HIDDEN,
            )
            .group_by(session_entries.c.session)
        )

    async def _found(self, statement: Select[*tuple[Any, ...]]) -> Sequence[SessionEntry]:
        rows = await self._connection.rows(statement)
        quotes = await self._quotes([row.id for row in rows])
        return [_entry(row, tuple(quotes.get(row.id, ()))) for row in rows]

    async def _delete(self, condition: ColumnElement[bool]) -> int:
        """Keys of repeated calls hold a hash of what was said, so they go first."""
        gone = select(session_entries.c.id).where(condition)
        await self._connection.run(answers_forgotten(idempotency_keys.c.job.in_(gone)))
        return await self._connection.run(delete(session_entries).where(condition))

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
        kind=EntryKind(row.kind),
        details=json.loads(row.details),
    )


def _summary(row: Row[*tuple[Any, ...]]) -> SessionSummary:
    return SessionSummary(
        name=row.session,
        dataset=None if row.dataset is None else DatasetId(row.dataset),
        started_ms=row.started_ms,
        used_ms=row.expires_ms - TTL_MS,
        exchanges=row.entries - row.traces,
        traces=row.traces,
    )
