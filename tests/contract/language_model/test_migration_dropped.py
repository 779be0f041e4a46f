"""Giving up the move to another model: with a server, without one, and in one that dies at it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest

from dormouse.adapters.data_folder.find import MIGRATION_PATH
from dormouse.adapters.data_folder.server_file import published
from tests.contract.crash.harness import Life, ServerDiedError
from tests.contract.crash.kill_points import KillPoint
from tests.contract.language_model.scripted_server import ScriptedServer
from tests.contract.language_model.test_enrichment import NOTE, remember
from tests.contract.language_model.test_migration import found
from tests.contract.program import Program, kill, wait_until

NOTHING = "Error: no other embedding model is being moved to"
DROPPED = "dropped: the former model answers as before\n"


def exported(client: httpx.Client) -> str:
    return client.get("/api/v1/export", params={"vectors": "true"}).text


def collections(program: Program) -> list[str]:
    return sorted(path.name for path in (program.folder / "vectors").iterdir())


def moves(client: httpx.Client) -> list[str]:
    """The stages of all moves to another model, newest first."""
    jobs = client.get("/api/v1/jobs", params={"limit": 100}).json()["jobs"]
    return [each["stage"] for each in jobs if each["kind"] == "migrate_embedding"]


def filled(program: Program) -> str:
    with program.serving(), program.client() as client:
        remember(client)
        return exported(client)


@contextmanager
def moving(program: Program, scripted: ScriptedServer) -> Iterator[httpx.Client]:
    """A server that has begun the other collection and waits for the endpoint."""
    with program.serving(), program.client() as client:
        scripted.script.answers_embeddings = False
        asked = client.post(MIGRATION_PATH)
        assert asked.status_code == 202, asked.text
        wait_until(lambda: len(collections(program)) > 1)
        status = client.get("/api/v1/status").json()
        assert (status["status"], status["problems"]) == ("ready", [])
        assert "being rebuilt: vectors" in status["warnings"][0]["message"]
        yield client
    scripted.script.answers_embeddings = True


def test_a_running_server_drops_it_and_can_begin_it_again(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    before = filled(program_with())
    there = program_with(**scripted.embedding_environment)
    with moving(there, scripted) as client:
        done, again = there.run("migrate-embedding", "--drop"), there.run("migrate-embedding", "--drop")

        assert (done.returncode, done.stdout) == (0, DROPPED)
        assert (again.returncode, again.stderr.splitlines()[0]) == (1, NOTHING)
        assert moves(client) == ["cancelled"]
        assert exported(client) == before
        assert found(client) == [NOTE]
        assert len(collections(there)) == 1
        scripted.script.answers_embeddings = True
        migrated = there.run("migrate-embedding", "--yes")
        assert migrated.returncode == 0, migrated.stderr
        assert moves(client) == ["complete", "cancelled"]
        assert found(client) == [NOTE]
        assert client.get("/api/v1/audit").json()["findings"] == []


def test_without_a_server_it_is_dropped_and_none_is_started(
    scripted: ScriptedServer, program_with: Callable[..., Program]
) -> None:
    before = filled(program_with())
    there = program_with(**scripted.embedding_environment)
    with moving(there, scripted):
        kill(there.address.pid)

    done, again = there.run("migrate-embedding", "--drop"), there.run("migrate-embedding", "--drop")

    assert (done.returncode, done.stdout) == (0, DROPPED)
    assert (again.returncode, again.stderr.splitlines()[0]) == (1, NOTHING)
    former = program_with()
    with former.serving(), former.client() as client:
        assert moves(client) == ["cancelled"]
        assert exported(client) == before
        assert found(client) == [NOTE]
        assert len(collections(former)) == 1


@pytest.mark.promise("P1")
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_server_that_dies_while_it_drops_it_has_dropped_it_after_the_next_start(
    scripted: ScriptedServer,
    program_with: Callable[..., Program],
    monkeypatch: pytest.MonkeyPatch,
    when: str,
) -> None:
    before = filled(program_with())
    for name, value in scripted.embedding_environment.items():
        monkeypatch.setenv(name, value)
    there = program_with(**scripted.embedding_environment)
    with moving(there, scripted):
        kill(there.address.pid)
    point = KillPoint.parse(f"collections.abandon:{when}:1")
    life = Life(there.folder, point, there.folder.parent / "server.log")
    address = published(there.folder)
    assert address
    with pytest.raises(ServerDiedError):
        life.call("DELETE", MIGRATION_PATH, headers={"Authorization": f"Bearer {address.token}"})
    assert life.was_killed()

    with there.serving(), there.client() as client:
        assert moves(client) == ["cancelled"]
        assert exported(client) == before
        assert found(client) == [NOTE]
        assert len(collections(there)) == 1
        assert client.get("/api/v1/audit").json()["findings"] == []
