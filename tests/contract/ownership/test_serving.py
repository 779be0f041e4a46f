import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from dormouse.adapters.data_folder.server_file import SERVER_FILE, published
from tests.contract.program import Program, is_alive, kill, wait_until

EXIT_BUSY = 75


def test_a_second_server_is_told_where_the_first_one_is(program: Program) -> None:
    with program.serving() as url:
        refused = program.run("serve", "--port", "0")

    assert refused.returncode == EXIT_BUSY
    assert url in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_server_that_ends_takes_its_address_with_it(program: Program) -> None:
    with program.serving():
        assert published(program.folder)

    assert not (program.folder / SERVER_FILE).exists()


def test_the_address_of_a_killed_server_is_seen_through(program: Program) -> None:
    program.run("remember", "-", "--name", "a.txt", given=b"The launch code word is hedgehog.")
    stale = program.address
    kill(stale.pid)
    assert published(program.folder) == stale

    assert program.run("status").returncode == 1
    found = program.run("recall", "launch code word")

    assert "hedgehog" in found.stdout
    assert program.address.pid != stale.pid


def test_a_server_that_nobody_needs_ends_by_itself(program: Program) -> None:
    process = program.start("serve", "--port", "0", "--idle-exit-s", "0.5")

    output, errors = process.communicate(timeout=90)

    assert process.returncode == 0, errors
    assert b"Dormouse ready: " in output
    assert not (program.folder / SERVER_FILE).exists()


def test_stopping_it_is_one_command(program: Program) -> None:
    program.run("remember", "-", "--name", "a.txt", given=b"words")
    pid = program.address.pid

    assert program.run("stop").returncode == 0

    wait_until(lambda: not is_alive(pid))
    assert "no server runs" in program.run("stop").stderr


def test_a_taken_port_is_named_with_what_to_do(program: Program) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        refused = program.run("serve", "--port", str(port))

    assert refused.returncode == 1
    assert f"port {port}" in refused.stderr
    assert "DORMOUSE_PORT" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_an_address_that_others_reach_is_refused_without_keys(program: Program, host: str) -> None:
    refused = program.run("serve", "--host", host, "--port", "0")

    assert refused.returncode == 1
    assert "dormouse keys create" in refused.stderr


def test_keys_are_shown_once_name_their_user_and_end_when_revoked(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    ada, grace = (
        program.run("keys", "create", "--user", user, "--file", str(file)) for user in ("ada", "grace")
    )
    secrets = [done.stdout.strip() for done in (ada, grace)]
    listing = program.run("keys", "list", "--file", str(file)).stdout
    assert not any(secret in listing or secret in file.read_text() for secret in secrets)
    keyed = Program(program.folder, {"DORMOUSE_API_KEYS_FILE": str(file)})

    with keyed.serving("--host", "0.0.0.0"):
        with keyed.client(**{"X-Nothing": "x"}) as stranger:
            refused = stranger.get("/api/v1/datasets")
        assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")
        assert "Bearer" in refused.headers["www-authenticate"]

        with keyed.client(**{"X-Api-Key": secrets[0]}) as client:
            fields = {"datasetName": "notes", "raw_data": "The launch code word is hedgehog."}
            parts = {name: (None, value.encode()) for name, value in fields.items()}
            assert client.post("/api/v1/remember", files=parts).status_code == 200
            assert [row["ownerId"] for row in client.get("/api/v1/datasets").json()] == ["ada"]

        with keyed.client(Authorization=f"Bearer {secrets[1]}") as client:
            assert client.get("/api/v1/datasets").json() == []
            (entry,) = client.post("/api/v1/recall", json={"query": "launch code word"}).json()
            assert entry["source"] == "system"

        with keyed.client() as client:
            assert client.get("/api/v1/status").json()["principal"] == "local"

        key_id = next(line.split()[0] for line in listing.splitlines() if " ada" in line)
        assert keyed.run("keys", "revoke", key_id).returncode == 0
        with keyed.client(**{"X-Api-Key": secrets[0]}) as client:
            assert client.get("/api/v1/datasets").status_code == 401


def test_commands_reach_another_dormouse_by_its_key(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    secret = program.run("keys", "create", "--user", "ada", "--file", str(file)).stdout.strip()
    keyed = Program(program.folder, {"DORMOUSE_API_KEYS_FILE": str(file)})

    with keyed.serving() as url:
        far = {"DORMOUSE_REMOTE__URL": url, "DORMOUSE_REMOTE__API_KEY": secret}
        elsewhere = Program(tmp_path / "unused", far)
        done = elsewhere.run("remember", "-", "--name", "a.txt", given=b"The launch code word is hedgehog.")
        found = elsewhere.run("recall", "launch code word")
        refused = Program(tmp_path / "unused", {"DORMOUSE_REMOTE__URL": url}).run("recall", "launch code word")

    assert done.returncode == 0, done.stderr
    assert "hedgehog" in found.stdout
    assert "Authentication required" in refused.stderr
    assert not (tmp_path / "unused").exists()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs a process that can be paused")
def test_a_server_that_hangs_is_not_taken_for_none(program: Program) -> None:
    with program.serving():
        pid = program.address.pid
        os.kill(pid, signal.SIGSTOP)
        try:
            done = program.run("status")
        finally:
            os.kill(pid, signal.SIGCONT)

    assert (done.returncode, "does not answer" in done.stderr) == (1, True)


HOLDS = """
import sys, time
from pathlib import Path
from dormouse.adapters.data_folder.lock import owned
with owned(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(1)
"""


def test_a_server_waits_for_one_that_is_just_ending(program: Program) -> None:
    command = [sys.executable, "-c", HOLDS, str(program.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=program.environment) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"

        with program.serving() as url:
            assert url.startswith("http://")
