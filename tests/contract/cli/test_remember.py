import signal
from pathlib import Path

import pytest

from tests.contract.program import DEADLINE_S, Program, kill, lines_of


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "my notes"
    (folder / "people").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("[core]")
    (folder / "people" / "carol.md").write_text("# Carol\n\nCarol founded Initech in Vienna.")
    (folder / "deploy.txt").write_text("The deploy key rotates on Mondays.")
    (folder / "photo.png").write_bytes(b"\x89PNG\r\n")
    return folder


def test_a_folder_is_remembered_with_its_names_and_found_again(program: Program, notes: Path) -> None:
    done = program.run("remember", str(notes), "--dataset", "notes")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 remembered, 1 skipped (")
    assert "skipped my notes/photo.png: unsupported type (.png)" in done.stderr
    assert "2/2 " in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    found = program.run("recall", "Who founded Initech?")
    assert found.returncode == 0
    assert "my notes/people/carol.md" in found.stdout
    assert "[notes]" in found.stdout
    assert "Carol founded Initech in Vienna." in found.stdout


def test_repeating_it_finds_everything_already_there(program: Program, notes: Path) -> None:
    program.run("remember", str(notes))
    (notes / "new.md").write_text("Grace found a moth.")

    again = program.run("remember", str(notes))

    assert again.stdout.startswith("1 remembered, 2 already there, 1 skipped (")


def test_an_interrupted_run_is_taken_up_by_repeating_it(program: Program, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number:03}.md").write_text(f"Fact number {number} is about topic {number * 7}.\n" * 4)
    assert program.run("remember", "-", "--name", "first.txt", given=b"The server runs.").returncode == 0
    process = program.start("remember", str(folder))
    assert process.stderr
    stderr = lines_of(process.stderr)
    next(stderr)

    process.send_signal(signal.SIGINT)

    assert process.wait(timeout=DEADLINE_S) == 130
    said = b"".join(stderr).decode()
    assert "run the same command again" in said
    assert "Traceback" not in said
    for pipe in (process.stdin, process.stdout, process.stderr):
        assert pipe
        pipe.close()
    again = program.run("remember", str(folder))
    assert again.returncode == 0, again.stderr
    assert "already there" in again.stdout
    assert "61 documents" in program.run("status").stdout


def test_a_killed_server_is_replaced_while_files_are_sent(program: Program, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number:03}.md").write_text(f"Fact number {number} is about topic {number * 7}.\n" * 4)
    assert program.run("remember", "-", "--name", "first.txt", given=b"The server runs.").returncode == 0
    process = program.start("remember", str(folder))
    assert process.stderr
    next(lines_of(process.stderr))

    kill(program.address.pid)

    output, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0, errors
    counts = output.decode().partition("(")[0]
    assert sum(int(word) for word in counts.replace(",", " ").split() if word.isdecimal()) == 40


def test_files_that_fail_are_named_and_the_exit_code_says_so(program: Program, tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 this is no document")
    (tmp_path / "good.md").write_text("Grace found a moth.")
    missing = tmp_path / "missing.md"

    done = program.run("remember", *(str(tmp_path / name) for name in ("broken.pdf", "good.md")), str(missing))

    assert done.returncode == 1
    assert done.stdout.startswith("1 remembered, 2 failed (")
    assert "failed broken.pdf: " in done.stderr
    assert f"failed {missing}: no such file or directory" in done.stderr  # as it was typed
    assert "Traceback" not in done.stderr


def test_standard_input_is_remembered_under_the_name_given(program: Program) -> None:
    done = program.run("remember", "-", "--name", "talk.txt", given="日本語の議事録 🦔".encode())

    assert done.returncode == 0, done.stderr
    assert "talk.txt" in program.run("recall", "議事録").stdout


def test_notes_piped_in_without_a_name_do_not_replace_each_other(program: Program) -> None:
    for note in (b"The spare key hangs behind the clock.", b"The cat is called Ludwig."):
        assert program.run("remember", "-", given=note).returncode == 0

    assert "behind the clock" in program.run("recall", "Where is the spare key?").stdout
    assert program.run("remember", "-", given=b"The cat is called Ludwig.").stdout.startswith("1 already there")


def test_nothing_to_remember_starts_no_server(program: Program, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    done = program.run("remember", str(tmp_path / "empty"))

    assert (done.returncode, done.stdout[:19]) == (1, "nothing to remember")
    assert not program.folder.exists()


def test_a_file_that_is_not_there_is_named_as_it_was_typed(program: Program, tmp_path: Path) -> None:
    missing = str(tmp_path / "no" / "such.md")

    done = program.run("remember", missing)

    assert done.returncode == 1
    assert f"failed {missing}: no such file or directory" in done.stderr


def test_what_has_no_file_any_more_is_told_and_forgotten_when_that_is_confirmed(
    program: Program, notes: Path
) -> None:
    program.run("remember", "-", "--name", "elsewhere/carol.md", given=b"Carol likes tea.")
    program.run("remember", str(notes))
    (notes / "people" / "carol.md").unlink()

    told = program.run("remember", str(notes))
    refused = program.run("remember", str(notes), "--prune", given=b"n\n")
    still = program.run("recall", "Who founded Initech?").stdout
    pruned = program.run("remember", str(notes), "--prune", given=b"y\n")

    assert "1 item of my notes without a file:\n  my notes/people/carol.md" in told.stderr
    assert refused.returncode != 0
    assert "Initech" in still
    assert "forgot 1 item" in pruned.stdout
    names = program.run("items", "main_dataset").stdout
    assert "my notes/people/carol.md" not in names
    assert "elsewhere/carol.md" in names
    assert "my notes/deploy.txt" in names
