"""What is asked with every write must not take longer the more is remembered."""

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import Select
from sqlalchemy.dialects import sqlite

from dormouse.adapters.catalog import documents
from dormouse.adapters.catalog.transaction import SqlCatalog


@pytest.mark.parametrize("name", ["_BY_CONTENT", "_BY_IDENTITY", "_BY_ID"])
async def test_a_document_is_looked_up_without_looking_at_its_dataset(tmp_path: Path, name: str) -> None:
    catalog = SqlCatalog(f"sqlite:///{tmp_path / 'catalog.sqlite3'}")
    await catalog.migrate()
    await catalog.close()
    statement: Select[*tuple[object, ...]] = getattr(documents, name)
    words = str(statement.compile(dialect=sqlite.dialect()))

    with sqlite3.connect(tmp_path / "catalog.sqlite3") as connection:
        plan = [row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {words}", ("x",) * words.count("?"))]
    connection.close()

    assert not [step for step in plan if step.startswith("SCAN") or "dataset_generation" in step], plan
