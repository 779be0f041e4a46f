import pytest

from dormouse.adapters.catalog import sql_states
from dormouse.adapters.catalog.sql_states import of_state


@pytest.mark.parametrize(
    ("state", "code", "message"),
    [
        ("23505", "conflict", "something of this name exists already"),
        ("23503", "not_found", "what this belongs to does not exist"),
        ("22021", "invalid_input", sql_states.UNFIT),
        ("22003", "invalid_input", sql_states.UNFIT),
        ("40001", "catalog_unavailable", sql_states.CROSSED),
        ("40P01", "catalog_unavailable", sql_states.CROSSED),
        ("55P03", "catalog_unavailable", sql_states.CROSSED),
        ("57014", "catalog_unavailable", sql_states.SLOW),
        ("57P01", "catalog_unavailable", sql_states.STOPPING),
        ("53300", "catalog_unavailable", sql_states.CROWDED),
        ("53100", "catalog_unavailable", sql_states.FULL),
        ("25006", "catalog_unavailable", sql_states.STANDBY),
        ("08006", "catalog_unavailable", sql_states.SILENT),
        ("28P01", "misconfigured", "DORMOUSE_DATABASE__URL has a user or password that the server refuses"),
        ("3D000", "misconfigured", "DORMOUSE_DATABASE__URL names a database that is not there"),
        ("42P01", "misconfigured", f"DORMOUSE_DATABASE__URL {sql_states.UNPREPARED}"),
        ("XX000", "catalog_unavailable", sql_states.REFUSED),
        ("", "catalog_unavailable", sql_states.REFUSED),
    ],
)
def test_a_state_says_whether_to_try_again_or_what_to_set(state: str, code: str, message: str) -> None:
    error = of_state(state)

    assert (error.code, str(error)) == (code, message)
