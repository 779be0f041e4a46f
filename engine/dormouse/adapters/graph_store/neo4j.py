"""The graph in a Neo4j database, for the cluster's form: many processes read, one at a time writes a workspace.

Each transaction of a writer begins with its fence: it takes the lock of the workspace's node and reads the
epoch behind it, so that a writer whose lease was taken over finds out before it writes anything, and a
successor that has stored its epoch knows that nothing of its predecessor comes afterwards.

What is written is one transaction. What is erased goes in several, since the server holds a transaction in
memory; each asserts the fence, and the change is noted with the last. What `erase` removed is seen by no query
when it returns; for how long the server's own files hold its bytes, docs/operations.md says.
Source: writes §3 and §5.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

from neo4j import AsyncManagedTransaction

from dormouse.adapters.graph_store import neo4j_cypher as cypher
from dormouse.adapters.graph_store import neo4j_values as values_of
from dormouse.adapters.graph_store import rows as rows_of
from dormouse.adapters.graph_store.neo4j_bolt import Bolt, run
from dormouse.adapters.graph_store.neo4j_migrations import migrate
from dormouse.adapters.graph_store.writable import assert_rows_writable, assert_writable
from dormouse.errors import LeaseLostError, StoreUnavailableError
from dormouse.ids import DocumentId, PassageId, WorkspaceId
from dormouse.model.change import Erasure
from dormouse.model.entity import Entity
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.model.scope import Fence, Scope
from dormouse.ports.graph_store import ClaimQuery, GraphCounts, GraphRows, MemoryQuery
from dormouse.server_settings import GraphSettings

BATCH = 1000  # rows that one statement removes: a few megabytes of the server's memory
REBUILT_RETRY_S = 5


class Neo4jGraphStore:
    """Made by `open`; one for each database. Ends with `close`."""

    def __init__(self, bolt: Bolt) -> None:
        self._bolt = bolt

    @classmethod
    async def open(cls, settings: GraphSettings, *, must_exist: bool = False) -> Self:
        """Bring the schema to this version's, never make one where `must_exist`.

        Raises `MisconfiguredError` for what a setting has wrong, a lost graph or a newer one, and
        `StoreUnavailableError` for a server that is away.
        """
        bolt = Bolt(settings)
        try:
            await bolt.check()
            await migrate(bolt, must_exist=must_exist)
        except BaseException:
            await bolt.close()
            raise
        return cls(bolt)

    @classmethod
    async def open_anew(cls, settings: GraphSettings) -> Self:
        """In place of whatever is there: empty, and refused to readers until it is complete."""
        store = await cls.open(settings)
        try:
            await store.renew()
        except BaseException:
            await store.close()
            raise
        return store

    async def renew(self) -> None:
        await self._bolt.write(lambda tx: run(tx, cypher.MARK_PARTIAL, {}))
        for statement in cypher.EMPTY:
            while await self._bolt.write(lambda tx, each=statement: _removed(tx, each, {})) == BATCH:  # type: ignore[misc]  # a default is no parameter
                pass
        await self._bolt.write(lambda tx: run(tx, cypher.FORGET_REACHED, {}))

    async def complete(self) -> None:
        await self._bolt.write(lambda tx: run(tx, cypher.MARK_WHOLE, {}))

    async def reached(self, workspace: WorkspaceId) -> int:
        """The last change of the workspace that is in here: it was committed with its marker, and in order."""
        return int((await self._read_anyway(cypher.LAST_APPLIED, {"workspace": workspace}))[0] or 0)

    async def write(self, scope: Scope, fence: Fence, rows: GraphRows) -> None:
        assert_rows_writable(scope, fence, rows)
        statements = [
            (statement, {"workspace": fence.workspace, "seq": fence.seq, "rows": listed})
            for statement, listed in values_of.upserts(fence, rows)
            if listed
        ]

        async def work(tx: AsyncManagedTransaction) -> None:
            await assert_fence(tx, fence.workspace, fence.epoch, fence.seq)
            for statement, values in statements:
                await run(tx, statement, values)

        await self._bolt.write(work)

    async def erase(
        self,
        scope: Scope,
        fence: Fence,
        what: Erasure,
        *,
        is_forgetting: bool = True,  # noqa: ARG002  the files are the server's own
    ) -> None:
        assert_writable(scope, fence, {what.dataset})
        statements = cypher.erasure_statements(what).erase
        await self.remove(fence, statements, values_of.parameters_of(what, fence.seq))

    async def remove(self, fence: Fence, statements: Sequence[str], values: Mapping[str, Any]) -> None:
        """For the modules of this adapter: as many transactions as it takes."""
        left = list(statements)

        async def work(tx: AsyncManagedTransaction) -> list[str]:
            await assert_fence(tx, fence.workspace, fence.epoch, None)
            for number, statement in enumerate(left):
                if await _removed(tx, statement, {"workspace": fence.workspace, **values}) == BATCH:
                    return left[number:]
            await run(tx, cypher.MARK_APPLIED, {"workspace": fence.workspace, "seq": fence.seq})
            return []

        while left:
            left = await self._bolt.write(work)

    async def adopt(self, workspace: WorkspaceId, epoch: int) -> None:
        async def work(tx: AsyncManagedTransaction) -> None:
            await assert_fence(tx, workspace, epoch, None)
            await run(tx, cypher.STORE_EPOCH, {"workspace": workspace, "epoch": epoch})

        await self._bolt.write(work)

    async def passages(self, scope: Scope, ids: Collection[PassageId]) -> Sequence[Passage]:
        found = await self.read(cypher.PASSAGES_BY_ID, scope, {"ids": list(ids)})
        return [rows_of.passage_of_row(row) for row in found]

    async def passages_of(
        self, scope: Scope, document: DocumentId, *, after_order: int = -1, limit: int = 200
    ) -> Sequence[Passage]:
        values = {"document": document, "after": after_order, "limit": limit}
        found = await self.read(cypher.PASSAGES_OF_DOCUMENT, scope, values)
        return [rows_of.passage_of_row(row) for row in found]

    async def matching(self, scope: Scope, what: Erasure, *, limit: int) -> Sequence[Passage]:
        statement = cypher.erasure_statements(what).matching
        found = await self.read(statement, scope, {**values_of.parameters_of(what), "limit": limit})
        return [rows_of.passage_of_row(row) for row in found]

    async def memories(self, scope: Scope, query: MemoryQuery | ClaimQuery) -> Sequence[MemoryVersion]:
        values: dict[str, Any] = {"known_at": query.known_at_ms}
        if isinstance(query, ClaimQuery):
            values |= {"claims": [values_of.claim_key(*each) for each in query.of], "limit": query.limit}
            found = await self.read(cypher.VERSIONS_OF_CLAIMS, scope, values)
        else:
            values |= {"ids": list(query.passages), "valid_at": query.valid_at_ms}
            found = await self.read(cypher.VERSIONS_OF_PASSAGES, scope, values)
        return [rows_of.version_of_row(row) for row in found]

    async def entities_in(
        self, scope: Scope, passages: Collection[PassageId]
    ) -> Sequence[tuple[Entity, PassageId]]:
        found = await self.read(cypher.ENTITIES_OF_PASSAGES, scope, {"ids": list(passages)})
        return [(rows_of.entity_of_row(row), PassageId(row[-1])) for row in found]

    async def count(self, scope: Scope, what: Erasure | None = None) -> GraphCounts:
        if what is None:
            found = await self._read_anyway(cypher.COUNT_ALL, values_of.seen_by(scope))
        else:
            values = values_of.seen_by(scope) | values_of.parameters_of(what)
            found = await self._read_anyway(cypher.erasure_statements(what).count, values)
        passages, entities, versions, derived = found
        return GraphCounts(passages=passages, entities=entities, versions=versions, derived=derived)

    async def close(self) -> None:
        await self._bolt.close()

    async def read(self, statement: str, scope: Scope, values: Mapping[str, Any]) -> list[Any]:
        """For the modules of this adapter; `neo4j_cypher` has the statements."""
        is_partial, rows = await self._bolt.read(statement, {**values_of.seen_by(scope), **values})
        if is_partial:
            # It may hold what later changes took out again.
            raise StoreUnavailableError(port="graph", retry_after_s=REBUILT_RETRY_S, is_rebuilt=True)
        return list(rows)

    async def _read_anyway(self, statement: str, values: Mapping[str, Any]) -> list[Any]:
        return list((await self._bolt.read(statement, values))[1])


async def assert_fence(
    tx: AsyncManagedTransaction, workspace: WorkspaceId, epoch: int, seq: int | None
) -> None:
    (stored,) = await run(tx, cypher.FENCE, {"workspace": workspace, "epoch": epoch, "seq": seq})
    if epoch < stored:
        raise LeaseLostError("a successor holds the lease of this workspace")


async def _removed(tx: AsyncManagedTransaction, statement: str, values: Mapping[str, Any]) -> int:
    (count,) = await run(tx, statement, {**values, "batch": BATCH})
    return int(count)
