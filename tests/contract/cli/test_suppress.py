import pytest

from tests.contract.program import Program


def test_an_item_is_hidden_and_shown_again_by_name(program: Program) -> None:
    program.run("remember", "-", "--name", "a.txt", given=b"The launch code word is hedgehog.")

    hidden = program.run("suppress", "main_dataset", "a.txt")

    assert (hidden.returncode, hidden.stdout) == (0, "suppressed a.txt\n")
    assert "hedgehog" not in program.run("recall", "launch code word").stdout
    shown = program.run("restore", "main_dataset", "a.txt")
    assert (shown.returncode, shown.stdout) == (0, "restored a.txt\n")
    assert "hedgehog" in program.run("recall", "launch code word").stdout
    assert program.run("suppress", "main_dataset", "b.txt").returncode == 1


def test_a_dataset_whose_name_has_a_slash_is_named_as_any_other(program: Program) -> None:
    program.run("remember", "-", "-d", "team/notes", "--name", "a.txt", given=b"The code word is hedgehog.")

    hidden = program.run("suppress", "team/notes", "a.txt")
    forgotten = program.run("forget", "-d", "team/notes", "a.txt", "--yes")

    assert (hidden.returncode, hidden.stdout) == (0, "suppressed a.txt\n")
    assert (forgotten.returncode, forgotten.stdout) == (0, "forgot a.txt\n")


@pytest.mark.parametrize(
    "command",
    [("suppress", "nosuch", "a.txt"), ("restore", "nosuch", "a.txt"), ("forget", "-d", "nosuch", "a.txt")],
)
def test_an_unknown_dataset_is_named_as_every_command_names_it(program: Program, command: list[str]) -> None:
    refused, recalled = program.run(*command), program.run("recall", "-d", "nosuch", "anything")

    assert "Dataset 'nosuch' not found" in refused.stderr
    assert (refused.returncode, refused.stderr) == (recalled.returncode, recalled.stderr)
