import json
from pathlib import Path

import pytest

from tests.contract.program import Program

CARS = """@prefix : <http://example.org/c#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:Vehicle a owl:Class . :Größe a owl:Class . :XC90 a :Vehicle .
"""


@pytest.fixture
def cars(tmp_path: Path) -> Path:
    path = tmp_path / "cars.ttl"
    path.write_text(CARS, encoding="utf-8")
    return path


def test_an_ontology_is_added_used_listed_shown_and_deleted(program: Program, cars: Path) -> None:
    added = program.run("ontology", "add", "cars", str(cars), "--description", "what we drive")
    assert (added.returncode, added.stderr) == (0, "")
    assert added.stdout.startswith("cars  2")
    assert added.stdout.endswith(f"Z  cars.ttl  {len(CARS.encode())} bytes  what we drive\n")
    used = program.run("remember", "-", "--ontology", "cars", given=b"The xc90 is in the yard.")
    assert used.returncode == 0, used.stderr

    assert program.run("ontology", "list").stdout == added.stdout
    (row,) = json.loads(program.run("ontology", "list", "--json").stdout)
    assert (row["ontology_key"], row["filename"], row["description"]) == ("cars", "cars.ttl", "what we drive")
    assert program.run("ontology", "show", "cars").stdout == CARS
    deleted = program.run("ontology", "delete", "cars", "--yes")
    assert (deleted.returncode, deleted.stdout) == (0, "deleted cars\n")
    assert program.run("ontology", "list").stdout == ""
    assert json.loads(program.run("ontology", "list", "--json").stdout) == []


def test_the_same_file_again_is_there_already_and_another_one_is_refused(program: Program, cars: Path) -> None:
    first = program.run("ontology", "add", "cars", str(cars))

    again = program.run("ontology", "add", "cars", str(cars))
    cars.write_text(CARS + "# more", encoding="utf-8")
    other = program.run("ontology", "add", "cars", str(cars))

    assert (again.returncode, again.stdout, again.stderr) == (0, first.stdout, "already there\n")
    assert (other.returncode, other.stdout) == (1, "")
    assert other.stderr.startswith("Error: Ontology key already exists.")


def test_deleting_asks_first(program: Program, cars: Path) -> None:
    program.run("ontology", "add", "cars", str(cars))

    asked = program.run("ontology", "delete", "cars", given=b"n\n")

    assert asked.returncode == 1
    assert program.run("ontology", "show", "cars").returncode == 0


@pytest.mark.parametrize("command", [("show", "boats"), ("delete", "boats", "--yes"), ("show", "..")])
def test_a_key_that_is_not_there_is_said_to_be_so(program: Program, command: tuple[str, ...]) -> None:
    refused = program.run("ontology", *command)

    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"there is no ontology {command[1]}; `dormouse ontology list` shows yours" in refused.stderr


def test_a_bad_key_and_a_bad_file_are_refused_in_plain_words(
    program: Program, cars: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.ttl"
    broken.write_text("this is no Turtle")

    bad_key = program.run("ontology", "add", "my cars", str(cars))
    bad_file = program.run("ontology", "add", "cars", str(broken))
    no_file = program.run("ontology", "add", "cars", str(tmp_path / "nowhere.ttl"))

    assert bad_key.stderr.startswith("Error: an ontology key has up to 128 letters, digits, dots, dashes and ")
    assert (bad_key.returncode, bad_file.returncode, no_file.returncode) == (1, 1, 2)
    assert bad_file.stderr.startswith("Error: ")
    assert program.run("ontology", "list").stdout == ""
