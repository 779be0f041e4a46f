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
    sql.ENTITIES_BY_ID,
)


@pytest.mark.parametrize("statement", BY_THEIR_KEYS)
def test_what_a_recall_reads_is_found_by_its_key_at_any_size(statement: str) -> None:
    connection = sqlite3.connect(":memory:")
    for table in sql.TABLES:
        connection.execute(table)

    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", VALUES)]

    (walk,) = (step for step in plan if "json_each" not in step and step.startswith(("SEARCH", "SCAN")))
    assert walk.startswith("SEARCH")
    assert not walk.endswith("(workspace=?)")
    connection.close()
