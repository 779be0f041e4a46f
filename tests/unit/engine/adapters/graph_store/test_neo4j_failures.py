import pytest
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    DatabaseUnavailable,
    Neo4jError,
    ServiceUnavailable,
    UnsupportedServerProduct,
)

from dormouse.adapters.graph_store.neo4j_failures import of_opening, refuse_older, translated
from dormouse.errors import InvalidInputError, LeaseLostError, MisconfiguredError, StoreUnavailableError

SECRET = "Ada's diary"


@pytest.mark.parametrize(
    "agent", ["Neo4j/5.26.0", "Neo4j/5.26.30", "Neo4j/2025.01.0", "Neo4j/2026.08.1", "Neo4j/5.26-x"]
)
def test_a_server_that_is_new_enough_is_taken(agent: str) -> None:
    refuse_older(agent)


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        ("Neo4j/5.25.1", "leads to Neo4j 5.25: Neo4j 5.26 or newer is needed"),
        ("Neo4j/4.4.40", "leads to Neo4j 4.4: Neo4j 5.26 or newer is needed"),
        ("Memgraph/3.1.0", "leads to a server that does not call itself Neo4j: Neo4j 5.26 or newer is needed"),
        ("", "leads to a server that does not call itself Neo4j: Neo4j 5.26 or newer is needed"),
    ],
)
def test_an_older_or_another_server_is_refused_with_what_is_needed(agent: str, told: str) -> None:
    with pytest.raises(MisconfiguredError) as caught:
        refuse_older(agent)

    assert str(caught.value) == f"DORMOUSE_GRAPH__URL {told}"


def _coded(code: str) -> Neo4jError:
    return Neo4jError._hydrate_neo4j(code=code, message=SECRET)


@pytest.mark.parametrize(
    ("error", "setting"),
    [
        (_coded("Neo.ClientError.Security.Unauthorized"), "GRAPH__PASSWORD"),
        (_coded("Neo.ClientError.Security.AuthenticationRateLimit"), "GRAPH__PASSWORD"),
        (_coded("Neo.ClientError.Database.DatabaseNotFound"), "GRAPH__DATABASE"),
        (UnsupportedServerProduct(SECRET), "GRAPH__URL"),
        (ConfigurationError(SECRET), "GRAPH__URL"),
        (ValueError(SECRET), "GRAPH__URL"),
    ],
)
def test_at_the_start_the_setting_that_is_wrong_is_named(error: Exception, setting: str) -> None:
    told = of_opening(error)

    assert isinstance(told, MisconfiguredError)
    assert (told.setting, SECRET in str(told)) == (setting, False)


@pytest.mark.parametrize(
    "error", [ServiceUnavailable(SECRET), DatabaseUnavailable(SECRET), TimeoutError(), ConnectionResetError()]
)
def test_at_the_start_a_server_that_is_away_is_waited_for(error: Exception) -> None:
    told = of_opening(error)

    assert isinstance(told, StoreUnavailableError)
    assert "DORMOUSE_GRAPH__URL" in str(told)


@pytest.mark.parametrize(
    "error", [ServiceUnavailable(SECRET), AuthError(SECRET), ClientError(SECRET), TimeoutError(), OSError()]
)
def test_at_work_every_trouble_of_the_server_passes_and_none_of_its_words_are_told(error: Exception) -> None:
    with pytest.raises(StoreUnavailableError) as caught, translated():
        raise error

    assert str(caught.value) == "the graph store does not answer"


def test_what_cannot_be_stored_is_the_callers_and_what_is_ours_passes() -> None:
    with pytest.raises(InvalidInputError), translated():
        "\ud800".encode()
    with pytest.raises(InvalidInputError), translated():
        raise OverflowError
    with pytest.raises(LeaseLostError), translated():
        raise LeaseLostError("ours")
