import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.program import Program

WORDS = b"The launch code word is hedgehog."


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    program = Program(tmp_path_factory.mktemp("export") / "data folder")
    assert program.run("remember", "-", "--name", "a.txt", given=WORDS).returncode == 0
    yield program
    program.end()


def test_everything_is_written_to_a_file_that_only_its_owner_reads(filled: Program, tmp_path: Path) -> None:
    target = tmp_path / "memory.jsonl"

    done = filled.run("export", "--output", str(target))

    assert done.returncode == 0
    head, *rows, end = map(json.loads, target.read_text("utf-8").splitlines())
    assert (head["format"], end["rows"]) == ("dormouse export", len(rows))
    assert WORDS.decode() in [row.get("text") for row in rows]
    assert target.stat().st_mode & 0o077 == 0


def test_without_a_file_it_goes_to_standard_output(filled: Program) -> None:
    lines = filled.run("export", "--dataset", "main_dataset").stdout.splitlines()

    assert json.loads(lines[-1])["rows"] == len(lines) - 2


def test_an_unknown_dataset_leaves_no_file(filled: Program, tmp_path: Path) -> None:
    target = tmp_path / "memory.jsonl"

    done = filled.run("export", "--dataset", "nobody's", "--output", str(target))

    assert done.returncode == 1
    assert list(tmp_path.glob("memory*")) == []
