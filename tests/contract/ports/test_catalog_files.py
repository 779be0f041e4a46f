"""The catalog's file when its world is unkind: damaged, read-only, full, and searched for what was deleted."""

import os
import random
import re
import shutil
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from dormouse.adapters.catalog import failures
from dormouse.adapters.catalog.tables import metadata
from dormouse.adapters.catalog.transaction import SqlCatalog
from dormouse.errors import CatalogUnavailableError, MisconfiguredError
from dormouse.ids import DocumentId
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from tests.builders import A_DATASET, a_document, a_session_entry
from tests.contract.ports.catalog_samples import a_stored_dataset, store_document
from tests.contract.ports.test_catalog_processes import a_process, lines_of
from tests.hand_clock import HandClock

NOBODY = 65534


@pytest.fixture
async def file(tmp_path: Path, clock: HandClock) -> Path:
    """Of a catalog with a few hundred kilobytes in it that nobody has open."""
    path = tmp_path / "catalog.db"
    catalog = SqlCatalog(f"sqlite:///{path}", clock)
    try:
        await catalog.migrate()
        await a_stored_dataset(catalog)
        async with catalog.transaction() as tx:
            for number in range(30):
                await store_document(tx, f"{number} " + "text " * 2_000)
            await tx.commit()
    finally:
        await catalog.close()
    return path


@pytest.fixture
async def reopened(file: Path, clock: HandClock) -> AsyncIterator[SqlCatalog]:
    catalog = SqlCatalog(f"sqlite:///{file}", clock)
    yield catalog
    await catalog.close()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """One that other users may enter, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="dormouse-catalog-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize("left", [0, 100, 4096, 0.3, 0.9])
async def test_a_truncated_file_is_told_and_left_as_it_is(
    file: Path, reopened: SqlCatalog, left: float
) -> None:
    """`left` is a share of the file, or bytes."""
    kept = truncate(file, left)

    with pytest.raises(CatalogUnavailableError, match="damaged"):
        await reopened.check()
    with pytest.raises(CatalogUnavailableError, match="damaged"):
        await reopened.migrate()

    assert all_bytes(file) == kept


@pytest.mark.parametrize("seed", range(3))
async def test_an_overwritten_file_is_told(file: Path, reopened: SqlCatalog, seed: int) -> None:
    overwrite(file, random.Random(seed))

    with pytest.raises(CatalogUnavailableError, match="damaged"):
        await reopened.check()
    with pytest.raises(CatalogUnavailableError, match="damaged"):
        async with reopened.transaction() as tx:
            await tx.documents.listing(A_DATASET)


async def test_a_file_that_never_was_a_catalog_is_told(tmp_path: Path, clock: HandClock) -> None:
    (tmp_path / "catalog.db").write_bytes(b"a letter to grandmother\n" * 400)
    catalog = SqlCatalog(f"sqlite:///{tmp_path / 'catalog.db'}", clock)

    with pytest.raises(CatalogUnavailableError, match="damaged"):
        await catalog.migrate()
    await catalog.close()


async def test_a_whole_file_passes(reopened: SqlCatalog) -> None:
    await reopened.check()
    await reopened.check()


async def test_a_missing_file_is_told_and_only_migrating_makes_one(tmp_path: Path, clock: HandClock) -> None:
    catalog = SqlCatalog(f"sqlite:///{tmp_path / 'catalog.db'}", clock)

    with pytest.raises(CatalogUnavailableError, match="missing"):
        await catalog.check()
    assert all_bytes(tmp_path) == b""

    await catalog.migrate()
    await catalog.check()
    await catalog.close()


async def test_a_missing_folder_is_told(tmp_path: Path, clock: HandClock) -> None:
    catalog = SqlCatalog(f"sqlite:///{tmp_path / 'nowhere' / 'catalog.db'}", clock)

    with pytest.raises(CatalogUnavailableError) as told:
        await catalog.migrate()
    await catalog.close()

    assert str(tmp_path) not in str(told.value)


async def test_a_read_only_folder_is_told(open_folder: Path, file: Path) -> None:
    user = NOBODY if os.geteuid() == 0 else None
    close_to_writing(file, open_folder)
    url = f"sqlite:///{open_folder / 'catalog.db'}"

    async with a_process(url, "append", user=user) as process:
        assert await lines_of(process) == [f"catalog_unavailable: {failures.READ_ONLY}"]
    async with a_process(url.replace("catalog.db", "new.db"), "migrate", user=user) as process:
        assert await lines_of(process) == [f"catalog_unavailable: {failures.MISSING}"]


async def test_a_full_disk_is_told_and_what_was_stored_stays(file: Path, reopened: SqlCatalog) -> None:
    async with a_process(f"sqlite:///{file}", "fill", 100) as process:
        *stored, last = await lines_of(process)

    assert stored
    assert set(stored) == {"stored"}
    assert last in {f"catalog_unavailable: {message}" for message in (failures.FULL, failures.UNREADABLE)}
    await reopened.check()
    async with reopened.transaction() as tx:
        owner = a_session_entry().owner
        assert await tx.sessions.erase(owner=owner) == {owner: len(stored)}


async def test_a_catalog_of_a_later_version_is_refused(file: Path, reopened: SqlCatalog) -> None:
    with sqlite3.connect(file) as later:
        later.execute("UPDATE alembic_version SET version_num = '9999'")
    later.close()

    with pytest.raises(MisconfiguredError, match="later version"):
        await reopened.migrate()


async def test_migrating_again_keeps_everything(reopened: SqlCatalog) -> None:
    await reopened.migrate()

    async with reopened.reading() as tx:
        assert await tx.documents.count(A_DATASET) == 30


async def test_the_migrated_schema_is_the_one_in_the_tables(file: Path, tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'from_tables.db'}")
    metadata.create_all(engine)
    engine.dispose()

    migrated = schema_of(file)
    migrated.pop("alembic_version")
    assert migrated == schema_of(tmp_path / "from_tables.db")


@pytest.mark.parametrize("seed", [5, 6])
async def test_what_was_erased_is_in_no_file(catalog: Catalog, tmp_path: Path, seed: int) -> None:
    """P3. Rows of many sizes move between pages, where overwriting alone left copies in one run of three."""
    secret, choose = "Rumpelstilzchen", random.Random(seed)
    await a_stored_dataset(catalog)
    gone: list[DocumentId] = []
    for _ in range(6):
        async with catalog.transaction() as tx:
            for _ in range(50):
                word = secret if choose.random() < 0.4 else "plain"
                stored = await store_at_random(tx, word, choose)
                gone += [stored] if word == secret else []
            for _ in range(choose.randint(1, 10)):
                await erase(tx, gone.pop(choose.randrange(len(gone))))
            await tx.commit()
    assert secret.encode() in all_bytes(tmp_path)

    choose.shuffle(gone)
    async with catalog.transaction() as tx:
        for document in gone:
            await erase(tx, document)
        await tx.commit()
    await catalog.scrub()

    assert secret.encode() not in all_bytes(tmp_path)
    async with catalog.reading() as tx:
        assert await tx.documents.count(A_DATASET) > 0


async def store_at_random(tx: CatalogTransaction, word: str, choose: random.Random) -> DocumentId:
    """A document and a session entry that quotes it, full of the word."""
    identity = f"{word} {choose.random()} {word * choose.randint(0, 20)}"
    document = a_document(identity, name=word * 3, external_id=f"{word} {choose.random()}")
    await store_document(tx, word * choose.randint(1, 300), document)
    await tx.sessions.add(a_session_entry(word * choose.randint(1, 300), quotes=(document.id,)))
    return document.id


async def erase(tx: CatalogTransaction, document: DocumentId) -> None:
    await tx.documents.forget(document)
    await tx.sessions.erase(document=document)
    await tx.documents.erase(A_DATASET, document=document, below_generation=None)


def truncate(file: Path, left: float) -> bytes:
    content = file.read_bytes()
    kept = content[: int(left * len(content)) if 0 < left < 1 else int(left)]
    file.write_bytes(kept)
    return kept


def overwrite(file: Path, noise: random.Random) -> None:
    """The head of every page but the first."""
    content = bytearray(file.read_bytes())
    for page in range(1, len(content) // 4096):
        content[page * 4096 : page * 4096 + 64] = noise.randbytes(64)
    file.write_bytes(content)


def close_to_writing(file: Path, folder: Path) -> None:
    shutil.copy(file, folder / "catalog.db")
    (folder / "catalog.db").chmod(0o444)
    folder.chmod(0o555)


def all_bytes(place: Path) -> bytes:
    files = place.iterdir() if place.is_dir() else [place]
    return b"".join(file.read_bytes() for file in files)


def schema_of(path: Path) -> dict[str, list[str]]:
    """Per table: its columns, constraints and indexes, in no order: a later migration adds at the end."""
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT type, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    schema: dict[str, list[str]] = {}
    for kind, table, statement in rows:
        lines = [statement]
        if kind == "table":
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            (kept,) = connection.execute(f"PRAGMA table_list({table})").fetchall()
            lines = [*(repr(column[1:]) for column in columns), repr(kept[4:])]
            lines += re.findall(r"CONSTRAINT [^\n]+", statement)
        schema[table] = sorted([*schema.get(table, []), *(line.rstrip(", ") for line in lines)])
    connection.close()
    return schema
