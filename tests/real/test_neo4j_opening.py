"""A graph that is opened on a server that is set up wrongly, old, silent or shared; and how it is read then."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from pydantic import SecretStr

from dormouse.adapters.graph_store import neo4j_cypher as cypher
from dormouse.adapters.graph_store import neo4j_migrations as migrations
from dormouse.adapters.graph_store.neo4j import Neo4jGraphStore
from dormouse.adapters.graph_store.neo4j_bolt import Bolt
from dormouse.errors import MisconfiguredError, StoreUnavailableError
from dormouse.model.change import Erasure
from dormouse.server_settings import GraphSettings
from tests.builders import A_DATASET, A_DOCUMENT
from tests.contract.ports.store_samples import MINE, a_fence
from tests.real.graph_documents import a_document, held
from tests.toolchain.neo4j import Neo4jServer
from tests.toolchain.relay import Relay, relaying
from tests.toolchain.server_process import free_port

PATIENCE_S = 60
EVERYTHING = Erasure(A_DATASET, below_generation=9)


@pytest.fixture
async def relay(neo4j_server: Neo4jServer) -> AsyncIterator[Relay]:
    async with relaying(neo4j_server.port) as made:
        yield made


@pytest.mark.parametrize(
    ("wrong", "setting"),
    [
        ({"password": SecretStr("s3cret")}, "GRAPH__PASSWORD"),
        ({"user": "s3cret"}, "GRAPH__PASSWORD"),
        ({"database": "s3cret"}, "GRAPH__DATABASE"),
        ({"url": "bolt://s3cret:not-a-port"}, "GRAPH__URL"),
        ({"url": ""}, "GRAPH__URL"),
    ],
)
async def test_what_is_set_wrongly_is_named_and_not_repeated(
    graph_settings: GraphSettings, wrong: dict[str, object], setting: str
) -> None:
    with pytest.raises(MisconfiguredError) as told:
        await Neo4jGraphStore.open(graph_settings.model_copy(update=wrong))

    assert told.value.setting == setting
    assert str(told.value).startswith(f"DORMOUSE_{setting} ")
    assert "s3cret" not in str(told.value)


async def test_a_server_that_is_not_there_is_waited_for_and_its_setting_named() -> None:
    with pytest.raises(StoreUnavailableError) as told:
        await Neo4jGraphStore.open(GraphSettings(url=f"bolt://127.0.0.1:{free_port()}"))

    assert told.value.retryable
    assert str(told.value) == "the graph store does not answer at DORMOUSE_GRAPH__URL"


async def test_a_server_that_is_too_old_is_refused_with_what_is_needed(
    graph_settings: GraphSettings, relay: Relay
) -> None:
    relay.lies = {b"Neo4j/2026.08.1": b"Neo4j/5.25.0123"}

    with pytest.raises(MisconfiguredError) as told:
        await Neo4jGraphStore.open(_through(relay, graph_settings))

    assert str(told.value) == "DORMOUSE_GRAPH__URL leads to Neo4j 5.25: Neo4j 5.26 or newer is needed"


async def test_a_server_that_falls_silent_is_given_up_and_found_again(
    graph_settings: GraphSettings, relay: Relay
) -> None:
    store = await Neo4jGraphStore.open(_through(relay, graph_settings))
    await store.write(MINE, a_fence(), a_document(1))
    store._bolt._bound_s = 1.0

    relay.speaks.clear()
    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(StoreUnavailableError):
            await held(store, 1)
        with pytest.raises(StoreUnavailableError):
            await store.write(MINE, a_fence(2), a_document(2))
    relay.speaks.set()
    store._bolt._bound_s = PATIENCE_S
    await store.write(MINE, a_fence(3), a_document(3))
    found = await held(store, 1)
    await store.close()

    assert found == list(a_document(1).passages)


def _through(relay: Relay, settings: GraphSettings) -> GraphSettings:
    return settings.model_copy(update={"url": f"bolt://127.0.0.1:{relay.port}"})


async def test_many_processes_that_start_at_once_make_one_schema(
    graph_settings: GraphSettings, neo4j_server: Neo4jServer
) -> None:
    for name in neo4j_server.run("SHOW CONSTRAINTS YIELD name"):
        neo4j_server.run(f"DROP CONSTRAINT {name[0]}")
    for name in neo4j_server.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name"):
        neo4j_server.run(f"DROP INDEX {name[0]}")

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        opening = [group.create_task(Neo4jGraphStore.open(graph_settings)) for _ in range(4)]
    for task in opening:
        await task.result().close()

    states = neo4j_server.run("SHOW INDEXES YIELD state, type WHERE type <> 'LOOKUP' RETURN state")
    assert [state for (state,) in states] == ["ONLINE"] * 12
    assert neo4j_server.run("MATCH (g:Graph) RETURN g.schema") == [[migrations.VERSION]]


async def test_a_lost_graph_and_a_newer_one_are_told_with_the_remedy(
    graph_settings: GraphSettings, neo4j_server: Neo4jServer
) -> None:
    with pytest.raises(MisconfiguredError, match="`dormouse rebuild` makes it anew"):
        await Neo4jGraphStore.open(graph_settings, must_exist=True)
    await (await Neo4jGraphStore.open(graph_settings)).close()
    await (await Neo4jGraphStore.open(graph_settings, must_exist=True)).close()

    neo4j_server.run("MATCH (g:Graph) SET g.schema = g.schema + 1")

    with pytest.raises(MisconfiguredError, match="newer Dormouse"):
        await Neo4jGraphStore.open(graph_settings)


async def test_every_statement_finds_what_it_wants_by_an_index(
    neo4j_graph: Neo4jGraphStore, graph_settings: GraphSettings
) -> None:
    """Planned over a graph of some size: an empty one is walked through whatever there is. Strays are looked
    for everywhere."""
    for number in range(1, 26):
        await neo4j_graph.write(MINE, a_fence(number), a_document(number))
    bolt = Bolt(graph_settings)
    statements = {name: text for name, text in vars(cypher).items() if isinstance(text, str) and "$" in text}
    for what in (Erasure(A_DATASET, A_DOCUMENT), EVERYTHING, Erasure(A_DATASET, A_DOCUMENT, first_revision=1)):
        made = cypher.erasure_statements(what)
        listed = [*made.erase, made.matching, made.count]
        statements |= {f"erasure {id(made)} {number}": text for number, text in enumerate(listed)}

    walking = {
        name: operators
        for name, text in statements.items()
        if not name.startswith("_")
        and "STRAYS" not in name
        and (operators := await _operators(bolt, text)) & {"AllNodesScan", "NodeByLabelScan"}
    }
    await bolt.close()

    assert len(statements) > 30
    assert walking == {}


async def _operators(bolt: Bolt, statement: str) -> set[str]:
    async with bolt._driver.session(database="neo4j") as session:
        result = await session.run(f"EXPLAIN {statement}", _NOTHING)
        plan = (await result.consume()).plan
    assert plan is not None
    return set(_flat(plan))


_NOTHING = dict.fromkeys(
    """after at batch below_generation claims dataset document entity epoch first_revision ids known_at
    last_revision_below limit memory name passage readable rows schema seq source target valid_at version
    workspace""".split(),
    None,
)


def _flat(plan: dict[str, object]) -> Iterator[str]:
    yield str(plan["operatorType"]).partition("@")[0]
    children = plan.get("children", [])
    assert isinstance(children, list)
    for child in children:
        yield from _flat(child)
