"""`dormouse rebuild` as a program: on folders whose server refuses to start, and beside one that runs."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.contract.damage.conftest import TEXT
from tests.contract.damage.test_files import COLLECTION, emptied, lost, replaced, scrambled_segments
from tests.contract.program import Program

QUESTION = "Where did Ada move?"
DAMAGES = {
    "graph lost": lost("graph.sqlite3"),
    "graph emptied": emptied("graph.sqlite3"),
    "graph replaced": replaced("graph.sqlite3"),
    "vectors lost": lost("vectors"),
    "record of the vectors damaged": replaced(f"{COLLECTION}/collection.json", b"{no"),
    "segments scrambled": scrambled_segments,
}


@pytest.fixture
def program(folder: Path) -> Iterator[Program]:
    made = Program(folder)
    yield made
    made.end()


def found(program: Program) -> list[str]:
    done = program.run("recall", QUESTION, "--json")
    assert done.returncode == 0, done.stderr
    return [str(row["text"]) for row in json.loads(done.stdout)]


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_folder_that_does_not_start_is_mended(program: Program, damage: Callable[[Path], object]) -> None:
    damage(program.folder)
    refused = program.run("serve", "--port", "0")

    done = program.run("rebuild", "--yes")

    assert (refused.returncode, "dormouse rebuild" in refused.stderr) == (1, True), refused.stderr
    assert done.returncode == 0, done.stderr
    assert any(TEXT in text for text in found(program))
    assert [path.name for path in (program.folder / "vectors").iterdir()] == ["memories-2"]


def test_a_running_server_rebuilds_and_goes_on(program: Program) -> None:
    with program.serving():
        done = program.run("rebuild", "--vectors", "--yes")

        assert done.returncode == 0, done.stderr
        assert any(TEXT in text for text in found(program))
        listed = json.loads(program.run("jobs", "--json").stdout)
        assert (listed[0]["kind"], listed[0]["stage"]) == ("rebuild", "complete")


def test_a_memory_elsewhere_is_not_rebuilt_from_here(tmp_path: Path) -> None:
    elsewhere = Program(tmp_path, {"DORMOUSE_REMOTE__URL": "http://127.0.0.1:9"})

    done = elsewhere.run("rebuild", "--yes")

    assert done.returncode == 1
    assert "on the machine that holds it" in done.stderr


def test_where_nothing_was_remembered_nothing_is_rebuilt(tmp_path: Path) -> None:
    done = Program(tmp_path / "data").run("rebuild", "--yes")

    assert done.returncode == 1
    assert "nothing to rebuild" in done.stderr
