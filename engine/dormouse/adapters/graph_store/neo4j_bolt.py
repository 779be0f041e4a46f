"""A database of a Neo4j server: one driver with a bounded pool, and transactions that end in time.

What is to be read is one statement, sent with its transaction. What is to be written is a function of a
transaction, run again by the driver when the server says that it may be (a lock that crossed another, a
connection that had died in the pool). Every transaction has a bound that the server keeps, and one here a
little above it, for a server that went away without a word.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from neo4j import (
    AsyncGraphDatabase,
    AsyncManagedTransaction,
    AsyncResult,
    NotificationMinimumSeverity,
    Query,
    RoutingControl,
    unit_of_work,
)

from dormouse.adapters.graph_store.neo4j_failures import opening_translated, refuse_older, translated, wrong
from dormouse.server_settings import GraphSettings

CONNECT_S = 5.0
ACQUIRE_S = 5.0  # a connection of the pool
RETRY_S = 1.0  # within which the driver begins another attempt
IDLE_S = 30.0  # after which a connection is tried before it is used
LIFETIME_S = 600.0
MARGIN_S = 1.0  # of ours over the server's bound

Result = TypeVar("Result")
Work = Callable[[AsyncManagedTransaction], Awaitable[Result]]


class Bolt:
    """Connects with the first call. Raises `MisconfiguredError` for what is no address."""

    def __init__(self, settings: GraphSettings) -> None:
        if not settings.url:
            raise wrong("GRAPH__URL", "must be set, to bolt://host:7687")
        # Its warnings quote what the server said, and that may quote content.
        logging.getLogger("neo4j").setLevel(logging.ERROR)
        self._database = settings.database
        self._bound_s = settings.timeout_s
        with opening_translated():
            self._driver = AsyncGraphDatabase.driver(
                settings.url,
                auth=(settings.user, settings.password.get_secret_value()),
                max_connection_pool_size=settings.connections,
                connection_timeout=CONNECT_S,
                connection_acquisition_timeout=ACQUIRE_S,
                max_connection_lifetime=LIFETIME_S,
                liveness_check_timeout=IDLE_S,
                max_transaction_retry_time=RETRY_S,
                notifications_min_severity=NotificationMinimumSeverity.OFF,
                telemetry_disabled=True,
                user_agent="dormouse",
            )

    async def check(self) -> None:
        """Raises `MisconfiguredError` for what a setting has wrong, and `StoreUnavailableError`."""
        with opening_translated():
            async with asyncio.timeout(self._bound_s):
                agent = await self._driver.execute_query(
                    "RETURN 1",
                    database_=self._database,
                    bookmark_manager_=None,
                    result_transformer_=_agent,
                )
        refuse_older(agent)

    async def read(self, statement: str, values: Mapping[str, Any]) -> list[Any]:
        """The values of the one record that is answered."""
        query = Query(statement, timeout=self._bound_s)
        with translated():
            async with asyncio.timeout(self._bound_s + MARGIN_S):
                return await self._driver.execute_query(
                    query,
                    dict(values),
                    routing_=RoutingControl.READ,
                    database_=self._database,
                    bookmark_manager_=None,
                    result_transformer_=_only_record,
                )

    async def write(self, work: Work[Result]) -> Result:
        """All that `work` does or nothing; it may be run again, and what it raises passes."""
        with translated():
            async with (
                asyncio.timeout(self._bound_s + MARGIN_S),
                self._driver.session(database=self._database) as session,
            ):
                return await session.execute_write(unit_of_work(timeout=self._bound_s)(work))

    async def close(self) -> None:
        with translated():
            await self._driver.close()


async def run(tx: AsyncManagedTransaction, statement: str, values: Mapping[str, Any]) -> list[Any]:
    """The values of the first record, or none."""
    result = await tx.run(statement, dict(values))
    record = await result.single()
    return [] if record is None else record.values()


async def _only_record(result: AsyncResult) -> list[Any]:
    return (await result.single(strict=True)).values()


async def _agent(result: AsyncResult) -> str:
    return (await result.consume()).server.agent
