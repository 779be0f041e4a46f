"""The main job needs no network: every attempt to leave the machine is refused and counted."""

from pathlib import Path

from tests.contract.program import Program
from tests.promises import promise

# Loaded by every Python process of the program before anything of ours.
GUARD = """
import os, sys

def refuse(event, arguments):
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host not in (None, "", "localhost", "127.0.0.1", "::1"):
        with open(os.environ["ATTEMPTS"], "a") as attempts:
            attempts.write(f"{event} {host}\\n")
        raise OSError("this machine is offline")

sys.addaudithook(refuse)
"""


def offline(tmp_path: Path) -> tuple[Program, Path]:
    guard, attempts = tmp_path / "guard", tmp_path / "attempts"
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(GUARD, encoding="utf-8")
    environment = {"PYTHONPATH": str(guard), "ATTEMPTS": str(attempts)}
    return Program(tmp_path / "memory", environment), attempts


@promise("P9")
def test_remembering_and_recalling_work_offline_without_a_key(tmp_path: Path) -> None:
    program, attempts = offline(tmp_path)
    notes = tmp_path / "notes.md"
    notes.write_text("# Trips\n\nAda moved to Lisbon in March 2024.\n", encoding="utf-8")

    with program.serving():
        remembered = program.run("remember", str(notes))
        recalled = program.run("recall", "Where does Ada live?")

    assert (remembered.returncode, recalled.returncode) == (0, 0), remembered.stderr + recalled.stderr
    assert "Ada moved to Lisbon in March 2024." in recalled.stdout
    assert not attempts.exists(), attempts.read_text(encoding="utf-8")


def test_the_guard_of_this_test_does_refuse(tmp_path: Path) -> None:
    program, attempts = offline(tmp_path)
    program.environment["DORMOUSE_REMOTE__URL"] = "http://192.0.2.1:9"

    assert program.run("status").returncode != 0
    assert "192.0.2.1" in attempts.read_text(encoding="utf-8")
