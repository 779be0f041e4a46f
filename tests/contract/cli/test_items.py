import json

from tests.contract.program import Program


def test_the_items_of_a_dataset_are_listed_by_name(program: Program) -> None:
    program.run("remember", "-", "--name", "b.txt", "--external-id", "7", given=b"The cellar key.")
    program.run("remember", "-", "--name", "a.txt", given=b"The launch code word is hedgehog.")
    program.run("suppress", "main_dataset", "b.txt")

    listed = program.run("items", "main_dataset")

    rows = json.loads(program.run("items", "main_dataset", "--json").stdout)
    first, second = listed.stdout.splitlines()
    assert listed.returncode == 0
    assert [row["name"] for row in rows] == ["a.txt", "b.txt"]
    assert (first.split()[0], second.split()[0]) == (rows[0]["id"], rows[1]["id"])
    assert first.endswith("Z  a.txt  33 bytes")
    assert second.endswith("Z  b.txt  7  15 bytes  suppressed")


def test_the_items_of_an_unknown_dataset_are_refused_as_every_command_refuses_it(program: Program) -> None:
    refused, recalled = program.run("items", "nosuch"), program.run("recall", "-d", "nosuch", "anything")

    assert (refused.returncode, refused.stderr) == (recalled.returncode, recalled.stderr)


def test_a_dataset_without_items_has_none(program: Program) -> None:
    program.run("remember", "-", "--name", "a.txt", given=b"The launch code word is hedgehog.")
    program.run("forget", "-d", "main_dataset", "a.txt", "--yes")

    listed = program.run("items", "main_dataset")

    assert (listed.returncode, listed.stdout, listed.stderr) == (0, "", "no items\n")
