import sqlite3

import pytest

from dormouse.adapters.graph_store import sqlite_schema as sql

VALUES = dict.fromkeys(
    ("workspace", "readable", "passages", "ids", "known_at", "valid_at", "document", "after", "limit"), None
)
BY_THEIR_KEYS = (
    sql.PASSAGES_BY_ID,
    sql.PASSAGES_OF_DOCUMENT,
    sql.VERSIONS_OF_PASSAGES,
    sql.ENTITIES_OF_PASSAGES,
)


@pytest.mark.parametrize("statement", BY_THEIR_KEYS)
def test_what_is_read_of_passages_is_found_by_its_key_at_any_size(statement: str) -> None:
    connection = sqlite3.connect(":memory:")
    for table in sql.TABLES:
        connection.execute(table)

    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", VALUES)]

    walks = [step for step in plan if "json_each" not in step and step.startswith(("SEARCH", "SCAN"))]
    assert walks
    assert [walk for walk in walks if not walk.startswith("SEARCH") or walk.endswith("(workspace=?)")] == []
    connection.close()
