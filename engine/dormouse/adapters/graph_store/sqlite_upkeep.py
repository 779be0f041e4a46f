"""The graph's rows a page at a time, for those who look after it. Every page is one read of its own."""

from collections.abc import Collection, Sequence
from typing import Any

from dormouse.adapters.graph_store import rows as rows_of
from dormouse.adapters.graph_store import sqlite_conditions as asked
from dormouse.adapters.graph_store import sqlite_schema as sql
from dormouse.adapters.graph_store.sqlite import SqliteGraphStore
from dormouse.adapters.graph_store.writable import assert_writable
from dormouse.ids import DocumentId, EntityId, PassageId
from dormouse.model.entity import Entity, Mention, Relation
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.model.scope import Fence, Scope


class SqliteGraphUpkeep:
    """Works through the store's own connections; the store closes them."""

    def __init__(self, store: SqliteGraphStore) -> None:
        self._store = store

    async def passages_after(self, scope: Scope, after: PassageId | None, limit: int) -> Sequence[Passage]:
        found = await self._store.read(sql.PASSAGES_AFTER, _page(scope, after, limit))
        return [rows_of.passage_of_row(row) for row in found]

    async def versions_of(
        self, scope: Scope, document: DocumentId, after: MemoryVersion | None, limit: int
    ) -> Sequence[MemoryVersion]:
        behind = {"memory": after.memory if after else "", "version": after.id if after else ""}
        values = asked.seen_by(scope) | {"document": document, "limit": limit, **behind}
        return [rows_of.version_of_row(row) for row in await self._store.read(sql.VERSIONS_OF_DOCUMENT, values)]

    async def entities_after(self, scope: Scope, after: EntityId | None, limit: int) -> Sequence[Entity]:
        found = await self._store.read(sql.ENTITIES_AFTER, _page(scope, after, limit))
        return [rows_of.entity_of_row(row) for row in found]

    async def mentions_after(self, scope: Scope, after: Mention | None, limit: int) -> Sequence[Mention]:
        behind = {"entity": after.entity if after else "", "passage": after.passage if after else ""}
        values = asked.seen_by(scope) | {**behind, "limit": limit}
        found = await self._store.read(sql.MENTIONS_AFTER, values)
        return [Mention(EntityId(row[0]), PassageId(row[1])) for row in found]

    async def relations_after(self, scope: Scope, after: Relation | None, limit: int) -> Sequence[Relation]:
        behind = {
            "source": after.source if after else "",
            "name": after.name if after else "",
            "target": after.target if after else "",
            "passage": after.passage if after else "",
        }
        found = await self._store.read(sql.RELATIONS_AFTER, asked.seen_by(scope) | {**behind, "limit": limit})
        return [Relation(EntityId(row[0]), row[1], EntityId(row[2]), PassageId(row[3])) for row in found]

    async def relations_in(self, scope: Scope, passages: Collection[PassageId]) -> Sequence[Relation]:
        values = asked.seen_by(scope) | {"ids": asked.array(passages)}
        found = await self._store.read(sql.RELATIONS_IN, values)
        return [Relation(EntityId(row[0]), row[1], EntityId(row[2]), PassageId(row[3])) for row in found]

    async def strays(self, scope: Scope) -> int:
        return int((await self._store.read(sql.COUNT_STRAYS, asked.seen_by(scope)))[0][0])

    async def drop(self, scope: Scope, fence: Fence, ids: Collection[PassageId]) -> None:
        assert_writable(scope, fence, scope.readable)
        mine = [each.id for each in await self._store.passages(scope, ids)]
        values = asked.seen_by(scope) | {"ids": asked.array(mine)}
        async with self._store.changing(fence) as connection:
            await connection.exec_driver_sql(sql.MARK_UNCLEAN)
            for statement in (*sql.DROP_PASSAGES, *sql.DROP_STRAYS):
                await connection.exec_driver_sql(statement, values)
        await self._store.clean()


def _page(scope: Scope, after: str | None, limit: int) -> dict[str, Any]:
    return asked.seen_by(scope) | {"after": after or "", "limit": limit}
