import sqlite3
from contextlib import closing
from pathlib import Path

from dormouse.adapters.data_folder import examine


def test_sound_and_damaged_databases_are_told_apart(tmp_path: Path) -> None:
    for name in ("sound.db", "damaged.db"):
        with closing(sqlite3.connect(tmp_path / name)) as db:
            db.execute("CREATE TABLE words (word TEXT)")
            db.executemany("INSERT INTO words VALUES (?)", [("x" * 500,)] * 100)
            db.commit()
    pages = bytearray((tmp_path / "damaged.db").read_bytes())
    pages[4096:8192] = b"\xff" * 4096
    (tmp_path / "damaged.db").write_bytes(pages)
    (tmp_path / "notes.txt").write_text("no database")

    found = {database.name: bool(database.trouble) for database in examine.databases(tmp_path)}

    assert found == {"damaged.db": True, "sound.db": False}


def test_a_folder_that_is_not_there_yet_is_not_made_to_try_it(tmp_path: Path) -> None:
    assert examine.is_writable(tmp_path / "new" / "folder")
    assert examine.databases(tmp_path / "new") == []
    assert not (tmp_path / "new").exists()


def test_a_file_in_its_place_is_not_writable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert not examine.is_writable(tmp_path / "file")


def test_used_bytes_count_every_file_below(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"x" * 100_000)

    assert examine.used_bytes(tmp_path) >= 100_000


def test_free_bytes_are_known_before_the_folder_is(tmp_path: Path) -> None:
    assert examine.free_bytes(tmp_path / "not" / "yet") > 0


def test_rights_of_others_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "server.json"
    assert examine.is_private(path)
    path.write_text("{}")

    path.chmod(0o644)
    assert not examine.is_private(path)
    path.chmod(0o600)
    assert examine.is_private(path)
