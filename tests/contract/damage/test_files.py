"""Damaged or lost files: a start is refused in words, and the doctor names what is wrong."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dormouse import compose
from dormouse.adapters.data_folder import examine
from dormouse.adapters.vector_store.edge_look import trouble_of
from dormouse.errors import CatalogUnavailableError, DormouseError, MisconfiguredError
from dormouse.settings import EngineSettings
from tests.contract.program import Program

COLLECTION = Path("vectors") / "memories"


def emptied(name: str) -> Callable[[Path], object]:
    return lambda folder: os.truncate(folder / name, 0)


def halved(name: str) -> Callable[[Path], object]:
    return lambda folder: os.truncate(folder / name, (folder / name).stat().st_size // 2)


def replaced(name: str, content: bytes = b"no such file was ever ours " * 300) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content)


def lost(name: str) -> Callable[[Path], object]:
    return lambda folder: shutil.rmtree(folder / name) if (folder / name).is_dir() else (folder / name).unlink()


def scrambled_segments(folder: Path) -> None:
    for path in (folder / COLLECTION / "shard" / "segments").rglob("*.json"):
        path.write_bytes(b"{no")


DATABASES = [
    (damage(f"{name}.sqlite3"), f"{name}.sqlite3")
    for name in ("catalog", "graph")
    for damage in (emptied, replaced, lost)
]
VECTORS = [
    replaced(f"{COLLECTION}/collection.json", b"{no"),
    lost(f"{COLLECTION}/collection.json"),
    lost(f"{COLLECTION}/shard"),
    scrambled_segments,
]


async def refusal(folder: Path) -> DormouseError:
    with pytest.raises((MisconfiguredError, CatalogUnavailableError)) as caught:
        async with compose.open_ports(EngineSettings(data_dir=folder)):
            pass
    return caught.value


@pytest.mark.parametrize(("damage", "name"), DATABASES)
async def test_a_damaged_database_ends_the_start_and_is_named(
    folder: Path, damage: Callable[[Path], object], name: str
) -> None:
    damage(folder)

    error = await refusal(folder)

    assert ("dormouse rebuild" if name == "graph.sqlite3" else "backup") in str(error)
    assert str(folder) not in str(error)
    assert [each.name for each in examine.databases(folder) if each.trouble] == [name]


@pytest.mark.parametrize("damage", VECTORS)
async def test_damaged_vectors_end_the_start_and_are_named(
    folder: Path, damage: Callable[[Path], object]
) -> None:
    damage(folder)

    error = await refusal(folder)

    assert isinstance(error, MisconfiguredError)
    assert str(error).startswith("the files of the vectors are damaged or missing: `dormouse rebuild`")
    assert await trouble_of(folder / COLLECTION)


async def test_looking_at_sound_vectors_leaves_them_sound(folder: Path) -> None:
    assert await trouble_of(folder / COLLECTION) == ""

    async with compose.open_ports(EngineSettings(data_dir=folder)):
        pass


def test_the_doctor_tells_of_all_stores_of_a_stopped_server(folder: Path) -> None:
    scrambled_segments(folder)
    for blob in (folder / "blobs").rglob("*"):
        if blob.is_file():
            blob.write_bytes(b"other bytes")

    done = Program(folder).run("doctor")

    assert done.returncode == 1
    assert "[problem] vectors: memories cannot be opened" in done.stdout
    assert "[problem] contents: " in done.stdout
    assert "[ok] databases: catalog.sqlite3, graph.sqlite3 sound" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="rights of this kind are POSIX's")
def test_what_the_memory_is_kept_in_is_for_its_user_alone(sound: Path) -> None:
    for name in ("catalog.sqlite3", "graph.sqlite3"):
        assert examine.is_private(sound / name)
