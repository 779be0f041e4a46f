import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.contract.program import Program

WORDS = b"The launch code word is hedgehog."


def fill(program: Program) -> None:
    options = ("--name", "a.txt", "--occurred-at", "2026-01-05T12:00:00Z")
    assert program.run("remember", "-", *options, given=WORDS).returncode == 0


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """For tests that only read."""
    program = Program(tmp_path_factory.mktemp("commands") / "data folder")
    fill(program)
    yield program
    program.end()


def test_recall_shows_source_and_date(filled: Program) -> None:
    found = filled.run("recall", "launch code word")

    assert found.stdout == "1. a.txt, 2026-01-05 [main_dataset]\n   The launch code word is hedgehog.\n\n"


def test_what_has_no_date_is_shown_with_when_it_was_remembered(program: Program) -> None:
    program.run("remember", "-", "--name", "b.md", given=b"# Keys\n\nThe cellar key is behind the clock.")

    found = program.run("recall", "cellar key").stdout

    assert found.startswith(f"1. b.md › Keys, remembered {datetime.now(UTC):%Y-%m-%d} [main_dataset]\n")


def test_recall_speaks_json_to_programs(filled: Program) -> None:
    (entry,) = json.loads(filled.run("recall", "launch code word", "--json", "--top-k", "1").stdout)

    assert entry["text"] == WORDS.decode()


def test_forget_asks_first(program: Program) -> None:
    fill(program)
    asked = program.run("forget", "a.txt", "--dataset", "main_dataset", given=b"n\n")
    assert asked.returncode == 1
    assert "hedgehog" in program.run("recall", "launch code word").stdout

    done = program.run("forget", "a.txt", "--dataset", "main_dataset", "--yes")

    assert (done.returncode, done.stdout) == (0, "forgot a.txt\n")
    assert "hedgehog" not in program.run("recall", "launch code word").stdout


def test_a_dataset_or_everything_is_forgotten_at_once(program: Program) -> None:
    for target in (("--dataset", "main_dataset"), ("--everything",)):
        fill(program)

        assert program.run("forget", *target, "--yes").returncode == 0

        assert "hedgehog" not in program.run("recall", "launch code word").stdout
        assert "0 documents" in program.run("status").stdout


def test_what_is_not_there_is_said_to_be_so(filled: Program) -> None:
    assert "no item b.txt" in filled.run("forget", "b.txt", "-d", "main_dataset", "--yes").stderr
    assert filled.run("forget", "--dataset", "nowhere", "--yes").returncode == 1
    assert filled.run("recall", "x", "--dataset", "nowhere").stderr.startswith("Error: ")


def test_status_and_jobs_tell_what_is_there(filled: Program) -> None:
    status = filled.run("status")
    assert status.returncode == 0
    assert "1 document, 1 passage, 0 unfinished jobs" in status.stdout
    assert json.loads(filled.run("status", "--json").stdout)["pid"] == filled.address.pid

    (row,) = json.loads(filled.run("jobs", "--json").stdout)
    assert row["stage"] == "complete"
    one = filled.run("jobs", "show", row["id"]).stdout
    assert "accepted" in one


def test_the_doctor_finds_a_healthy_installation_healthy(filled: Program) -> None:
    done = filled.run("doctor", "--json")

    findings = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    assert {finding["state"] for finding in findings} <= {"ok", "warning"}
    assert [f for f in findings if f["state"] == "warning" and not f["about"].startswith("port ")] == []
    (memory,) = [finding for finding in findings if finding["about"] == "memory"]
    assert "on disk" in memory["detail"]


def test_the_doctor_is_content_before_anything_was_remembered(program: Program) -> None:
    assert program.run("doctor").returncode == 0


def test_the_doctor_names_a_damaged_database(program: Program) -> None:
    fill(program)
    program.run("stop")
    (catalog, *_) = sorted(program.folder.rglob("*catalog*"))
    pages = bytearray(catalog.read_bytes())
    pages[4096:20480] = b"\xff" * (20480 - 4096)
    catalog.write_bytes(pages)

    done = program.run("doctor")

    assert done.returncode == 1
    assert "[problem] databases: " in done.stdout


def test_a_misspelt_setting_is_named_with_the_right_one(program: Program) -> None:
    program.environment["DORMOUSE_LOG_LEVLE"] = "info"

    for command in (("recall", "x"), ("serve",), ("mcp",), ("status",), ("doctor",)):
        refused = program.run(*command)

        assert refused.returncode == 1
        assert "DORMOUSE_LOG_LEVEL" in refused.stderr + refused.stdout
        assert "Traceback" not in refused.stderr


def test_a_folder_that_cannot_be_used_ends_in_words(program: Program) -> None:
    program.folder.write_text("a file, not a folder")

    for command in (("recall", "x"), ("serve", "--port", "0"), ("doctor",)):
        refused = program.run(*command)

        assert refused.returncode == 1, command
        assert "Traceback" not in refused.stderr


def test_the_version_and_every_help_text_answer(program: Program) -> None:
    assert program.run("--version").stdout.startswith("dormouse ")
    listing = program.run("--help").stdout
    for command in ("remember", "recall", "forget", "jobs", "status", "doctor", "stop", "serve", "mcp", "keys"):
        assert command in listing
        assert "Usage: dormouse" in program.run(command, "--help").stdout


def test_a_data_folder_given_on_the_command_line_wins(program: Program) -> None:
    other = Program(program.folder.parent / "other folder")
    try:
        program.run("--data-dir", str(other.folder), "remember", "-", "--name", "a.txt", given=WORDS)

        assert other.address.pid
        assert not program.folder.exists()
    finally:
        other.end()


def test_help_is_not_cut_off_in_the_list_of_commands(program: Program) -> None:
    shown = program.run("--help").stdout

    assert "keys" in shown
    assert "..." not in shown.split("Commands:")[1]


def test_a_server_elsewhere_is_not_stopped_from_here(program: Program) -> None:
    elsewhere = Program(program.folder, {"DORMOUSE_REMOTE__URL": "http://memory.test"})
    with program.serving():
        done = elsewhere.run("stop")
        is_there = program.run("status").returncode == 0

    assert (done.returncode, is_there) == (1, True)
    assert "a server is stopped on its own machine" in done.stderr


def test_what_failed_is_listed_with_its_reason(program: Program, tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"no pdf")
    (tmp_path / "sound.txt").write_text("Carol founded Initech.")
    program.run("remember", str(tmp_path / "broken.pdf"), str(tmp_path / "sound.txt"))

    listed = program.run("jobs", "failed").stdout

    assert "broken.pdf  failed" in listed
    assert "sound.txt" not in listed
