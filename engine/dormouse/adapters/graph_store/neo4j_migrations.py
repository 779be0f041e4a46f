"""The graph's schema, brought to this version's in numbered steps, each of which may be repeated.

The number stands in the database and is noted after each step. Processes that start at the same time do the
same and do not disturb each other: what is there already is passed by.
"""

from collections.abc import Sequence

from neo4j.exceptions import ClientError, TransientError

from dormouse.adapters.graph_store import neo4j_cypher as cypher
from dormouse.adapters.graph_store.neo4j_bolt import Bolt, run
from dormouse.errors import MisconfiguredError, StoreUnavailableError

VERSION = len(cypher.MIGRATIONS)
ATTEMPTS = 5  # the driver waits between them

_REMEDY = "`dormouse rebuild` makes it anew"
_LOST = f"the graph's database is empty, but the catalog knows of memories in it: {_REMEDY}"
_NEWER = f"the graph was made by a newer Dormouse: start that one or newer; {_REMEDY}"
_THERE_ALREADY = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists"


async def migrate(bolt: Bolt, *, must_exist: bool = False) -> None:
    """Raises `MisconfiguredError` for a newer schema, and for none where `must_exist`."""
    found = await stored_version(bolt)
    if found is not None and found > VERSION:
        raise MisconfiguredError(_NEWER, setting="GRAPH__DATABASE")
    if found is None and must_exist:
        raise MisconfiguredError(_LOST, setting="GRAPH__DATABASE")
    if found == VERSION:
        return
    await _define(bolt, (cypher.GRAPH_KEY,))
    for number, statements in enumerate(cypher.MIGRATIONS, start=1):
        if number > (found or 0):
            await _define(bolt, (*statements, cypher.AWAIT_INDEXES))
            await bolt.write(lambda tx, done=number: run(tx, cypher.NOTE_SCHEMA, {"schema": done}))  # type: ignore[misc]  # a default is no parameter


async def stored_version(bolt: Bolt) -> int | None:
    """None where nothing was ever made."""
    (version,) = await bolt.read(cypher.FIND_GRAPH, {})
    return None if version is None else int(version)


async def _define(bolt: Bolt, statements: Sequence[str]) -> None:
    """One after the other. Whoever defines the same at the same time may be in each other's way: one of them
    gets it done, and the next attempt of the others finds it there."""
    for statement in statements:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                await bolt.write(lambda tx, each=statement: run(tx, each, {}))  # type: ignore[misc]  # a default is no parameter
                break
            except StoreUnavailableError as exc:
                if _is_there(exc.__cause__):
                    break
                if attempt == ATTEMPTS or not isinstance(exc.__cause__, TransientError):
                    raise


def _is_there(exc: BaseException | None) -> bool:
    """`IF NOT EXISTS` does not see what another is making just now."""
    return isinstance(exc, ClientError) and exc.code == _THERE_ALREADY
