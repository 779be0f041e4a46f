import sqlite3
from pathlib import Path

from dormouse.adapters.graph_store import sqlite_schema as sql
from dormouse.adapters.graph_store.rows import VERSION_COLUMNS
from dormouse.adapters.graph_store.sqlite import FILE_NAME, SqliteGraphStore
from dormouse.ports.graph_store import ClaimQuery, MemoryQuery
from tests.builders import NOW_MS, a_passage, a_scope

NEW = {"claim_subject", "claim_predicate", "claim_object", "derived_by"}


async def test_a_file_of_the_version_before_gets_the_columns_it_lacks(tmp_path: Path) -> None:
    """As the first version made it: the same tables without what claims and models brought."""
    older = sqlite3.connect(tmp_path / FILE_NAME)
    (versions,) = [table for table in sql.TABLES if "EXISTS versions (" in table]
    older.execute(
        versions.replace(
            "seq INTEGER NOT NULL, claim_subject TEXT, claim_predicate TEXT, claim_object TEXT,\n"
            "        derived_by TEXT NOT NULL DEFAULT '', PRIMARY KEY",
            "seq INTEGER NOT NULL, PRIMARY KEY",
        )
    )
    kept = [name for name in VERSION_COLUMNS if name not in NEW]
    values = dict.fromkeys(kept, 0) | {
        "id": "v", "memory": "m", "kind": "fact", "passage": a_passage().id, "dataset": a_passage().dataset,
        "document": a_passage().document, "content": "c", "quote": "q", "source": "stated",
        "valid_basis": "stated", "valid_end_ms": 9, "about_start_ms": None, "about_end_ms": None,
        "precision": None, "transaction_end_ms": NOW_MS, "entities": "[]", "workspace": "local", "seq": 1,
    }  # fmt: skip
    marks = ", ".join("?" for _ in values)
    older.execute(f"INSERT INTO versions ({', '.join(values)}) VALUES ({marks})", list(values.values()))
    older.execute("PRAGMA user_version = 1")
    older.commit()
    older.close()

    store = await SqliteGraphStore.open(tmp_path)
    (found,) = await store.memories(a_scope(), MemoryQuery([a_passage().id], 5))
    claims = await store.memories(a_scope(), ClaimQuery({("ada", "lives_in")}, 5))
    await store.close()

    assert (found.content, found.claim, found.derived_by) == ("c", None, "")
    assert claims == []
