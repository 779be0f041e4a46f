"""The graph's rows a page at a time, for those who look after it. Every page is one read of its own."""

from collections.abc import Collection, Sequence
from typing import Any

from dormouse.adapters.graph_store import neo4j_cypher as cypher
from dormouse.adapters.graph_store import rows as rows_of
from dormouse.adapters.graph_store.neo4j import Neo4jGraphStore
from dormouse.adapters.graph_store.writable import assert_writable
from dormouse.ids import DocumentId, EntityId, PassageId
from dormouse.model.entity import Entity, Mention, Relation
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.model.scope import Fence, Scope


class Neo4jGraphUpkeep:
    """Works through the store's own connections; the store closes them."""

    def __init__(self, store: Neo4jGraphStore) -> None:
        self._store = store

    async def passages_after(self, scope: Scope, after: PassageId | None, limit: int) -> Sequence[Passage]:
        found = await self._store.read(cypher.PASSAGES_AFTER, scope, {"after": after or "", "limit": limit})
        return [rows_of.passage_of_row(row) for row in found]

    async def versions_of(
        self, scope: Scope, document: DocumentId, after: MemoryVersion | None, limit: int
    ) -> Sequence[MemoryVersion]:
        behind = {"memory": after.memory if after else "", "version": after.id if after else ""}
        values = {"document": document, "limit": limit, **behind}
        found = await self._store.read(cypher.VERSIONS_OF_DOCUMENT, scope, values)
        return [rows_of.version_of_row(row) for row in found]

    async def entities_after(self, scope: Scope, after: EntityId | None, limit: int) -> Sequence[Entity]:
        found = await self._store.read(cypher.ENTITIES_AFTER, scope, {"after": after or "", "limit": limit})
        return [rows_of.entity_of_row(row) for row in found]

    async def mentions_after(self, scope: Scope, after: Mention | None, limit: int) -> Sequence[Mention]:
        behind = {"entity": after.entity if after else "", "passage": after.passage if after else ""}
        found = await self._store.read(cypher.MENTIONS_AFTER, scope, {**behind, "limit": limit})
        return [Mention(EntityId(row[0]), PassageId(row[1])) for row in found]

    async def relations_after(self, scope: Scope, after: Relation | None, limit: int) -> Sequence[Relation]:
        behind = {
            "source": after.source if after else "",
            "name": after.name if after else "",
            "target": after.target if after else "",
            "passage": after.passage if after else "",
        }
        found = await self._store.read(cypher.RELATIONS_AFTER, scope, {**behind, "limit": limit})
        return [_relation(row) for row in found]

    async def relations_in(self, scope: Scope, passages: Collection[PassageId]) -> Sequence[Relation]:
        found = await self._store.read(cypher.RELATIONS_IN, scope, {"ids": list(passages)})
        return [_relation(row) for row in found]

    async def strays(self, scope: Scope) -> int:
        return int((await self._store.read(cypher.COUNT_STRAYS, scope, {}))[0])

    async def drop(self, scope: Scope, fence: Fence, ids: Collection[PassageId]) -> None:
        assert_writable(scope, fence, scope.readable)
        values = {"readable": list(scope.readable), "ids": list(ids)}
        await self._store.remove(fence, (cypher.DROP_PASSAGES, *cypher.DROP_STRAYS), values)


def _relation(row: Sequence[Any]) -> Relation:
    return Relation(EntityId(row[0]), row[1], EntityId(row[2]), PassageId(row[3]))
