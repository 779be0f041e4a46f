"""A server that is killed with SIGKILL while it moves to another embedding model, again and again at other
moments, while notes come in and some are forgotten.

Each start goes on where the one before was; in the end the memory is that of a folder whose every note was
embedded with the second model from the start. The seed is in the name of the test's parameter.
"""

import json
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from dormouse.audit.compare import Likeness, differences
from dormouse.model.export import ExportRow, RowKey, RowKind
from tests.contract.language_model.scripted_server import Asked, Said, ScriptedServer
from tests.contract.language_model.test_enrichment import files_with
from tests.contract.program import Program, kill, wait_until

KILLS = 3
LATEST_S = 1.5
ITEMS, SECTIONS = 12, 4
SLOWNESS_S = 0.15  # of the endpoint, for each call: a move of this size takes some seconds
FORGETTABLE = "xylogravure"  # stands in whatever will be forgotten, and in nothing else


class _SlowEndpoint(ScriptedServer):
    def say(self, path: str, authorization: str, asked: Asked) -> Said:
        threading.Event().wait(SLOWNESS_S)
        return super().say(path, authorization, asked)


@pytest.fixture
def endpoint() -> Iterator[ScriptedServer]:
    with _SlowEndpoint().running() as server:
        yield server


@dataclass
class _Diary:
    """What a user says and takes back, one thing after another; a call that a dying server did not answer is
    made again, as any client would."""

    written: list[str] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    doomed: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)

    def write(self, client: httpx.Client, name: str) -> None:
        if name not in self.written:
            self.written.append(name)
        self.ids[name] = _remember(client, name, is_doomed=name in self.doomed)

    def forget(self, client: httpx.Client, name: str) -> None:
        reply = client.post("/api/v1/forget", json={"dataset": "diary", "data_id": self.ids[name]})
        assert reply.status_code in {200, 202}, reply.text
        self.gone.add(name)

    def go_on(self, client: httpx.Client) -> None:
        """One more note, or one of the doomed is forgotten."""
        condemned = sorted(self.doomed & self.ids.keys() - self.gone)
        if condemned and len(self.written) % 2:
            self.forget(client, condemned[0])
        name = f"day-{len(self.written)}"
        if len(self.written) % 3 == 0:
            self.doomed.add(name)
        self.write(client, name)

    def settle(self, client: httpx.Client) -> None:
        """Whatever was not answered, and what is still to be forgotten."""
        for name in self.written:
            if name not in self.ids:
                self.write(client, name)
        for name in sorted(self.doomed - self.gone):
            self.forget(client, name)


@pytest.mark.promise("P1")
@pytest.mark.promise("P3")
@pytest.mark.parametrize("seed", [20261201], ids=["seed-20261201"])
def test_a_migration_that_is_killed_again_and_again_ends_like_a_memory_of_the_second_model(
    tmp_path: Path, endpoint: ScriptedServer, seed: int
) -> None:
    moments, diary = random.Random(seed), _Diary()
    before = Program(tmp_path / "moved")
    with before.serving(), before.client() as client:
        for number in range(ITEMS):
            name = f"early-{number}"
            diary.doomed |= {name} if number % 4 == 0 else set()
            diary.write(client, name)
    moved = Program(tmp_path / "moved", endpoint.embedding_environment)
    try:
        hits = [_killed_after(moved, diary, moments.uniform(0.2, LATEST_S)) for _ in range(KILLS)]
        assert all(hits), f"a kill came when it had moved already: {hits}"
        with moved.serving(), moved.client() as client:
            diary.settle(client)
            wait_until(lambda: not _is_busy(client))
            stages = [job["stage"] for job in _jobs(client) if job["kind"] == "migrate_embedding"]
            audited = client.get("/api/v1/audit").json()
            status = client.get("/api/v1/status").json()
            found = client.post("/api/v1/recall", json={"query": FORGETTABLE, "searchType": "CHUNKS_LEXICAL"})
            after = _exported(client)
    finally:
        moved.end()

    assert stages == ["complete"]
    assert audited["findings"] == []
    assert status["problems"] == []
    assert found.json() == []
    assert [row for row in after if FORGETTABLE in json.dumps(row.body)] == []
    assert files_with(moved.folder, FORGETTABLE) == []
    assert differences(after, _fresh(tmp_path, endpoint, diary), Likeness.ANOTHER_RUN) == []


def _killed_after(program: Program, diary: _Diary, pause_s: float) -> bool:
    """Whether the server was still moving when it was killed, with notes coming in all the time."""
    with program.serving(), program.client() as client:
        asked = program.start("migrate-embedding", "--yes")
        killer = threading.Timer(pause_s, kill, [program.address.pid])
        try:
            wait_until(lambda: _is_moving(client) or asked.poll() is not None)
            was_moving = _is_moving(client)
            killer.start()
            try:
                while True:
                    was_moving = _is_moving(client)
                    diary.go_on(client)
            except httpx.TransportError:
                return was_moving
        finally:
            killer.join()
            asked.kill()
            asked.communicate()


def _fresh(tmp_path: Path, endpoint: ScriptedServer, diary: _Diary) -> list[ExportRow]:
    """What is left of the diary, in a folder that never knew another model."""
    program = Program(tmp_path / "fresh", endpoint.embedding_environment)
    with program.serving(), program.client() as client:
        for name in diary.written:
            if name not in diary.gone:
                _remember(client, name)
        wait_until(lambda: not _is_busy(client))
        return _exported(client)


def _remember(client: httpx.Client, name: str, *, is_doomed: bool = False) -> str:
    """The item's id, once it is durable."""
    said = [
        f"## Visit {section}\n\nAda met Grace at harbour {name} on day {section}.\n"
        + (f"They spoke of {FORGETTABLE}.\n" if is_doomed else "")
        for section in range(SECTIONS)
    ]
    reply = client.post(
        "/api/v1/remember",
        data={"datasetName": "diary", "occurred_at": "2026-03-01T12:00:00Z", "run_in_background": "true"},
        files={"data": (f"{name}.md", "\n".join(said).encode())},
    )
    assert reply.status_code == 200, reply.text
    return str(reply.json()["items"][0]["id"])


def _jobs(client: httpx.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/api/v1/jobs", params={"limit": 100}).json()["jobs"]
    return found


def _is_moving(client: httpx.Client) -> bool:
    return any(job["kind"] == "migrate_embedding" and job["finishedAt"] is None for job in _jobs(client))


def _is_busy(client: httpx.Client) -> bool:
    return any(job["finishedAt"] is None for job in _jobs(client))


def _exported(client: httpx.Client) -> list[ExportRow]:
    """Rows by their place: an export stands in one canonical order."""
    lines = client.get("/api/v1/export", params={"vectors": "true"}).text.splitlines()
    bodies = [json.loads(line) for line in lines[1:-1]]
    return [
        ExportRow(RowKind(body.pop("row")), RowKey("", 0, "", 0, place, ""), body)
        for place, body in enumerate(bodies)
    ]
