"""The cluster's form as it runs: gateways and workers as processes of their own, on real servers."""

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from tests.contract.program import DEADLINE_S, Program, lines_of, wait_until
from tests.promises import promise
from tests.toolchain.server_process import free_port
from tests.toolchain.stack import Stack, prepared

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
MCP = {"accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True)
class Cluster:
    """Two gateways of one memory; workers come and go."""

    program: Program
    one: httpx.Client
    other: httpx.Client
    workers: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def start_worker(self, role: str = "all", **environment: str) -> "subprocess.Popen[bytes]":
        """Ready."""
        program = Program(self.program.folder, {**self.program.environment, **environment})
        process = program.start("worker", "--role", role)
        self.workers.append(process)
        assert process.stdout is not None
        for line in lines_of(process.stdout):
            assert line.startswith(b"Dormouse worker ready"), line
            return process
        assert process.stderr is not None
        raise AssertionError(process.stderr.read().decode())


@pytest.fixture
def cluster(stack: Stack, tmp_path: Path) -> Iterator[Cluster]:
    program = Program(tmp_path / "unused", stack.settings())
    prepared(program.environment)
    with ExitStack() as running:
        one = running.enter_context(_client(program))
        found = Cluster(program, one, running.enter_context(_client(program)))
        running.callback(_ended, found.workers)
        yield found


@contextmanager
def _client(program: Program) -> Iterator[httpx.Client]:
    with (
        program.serving() as url,
        httpx.Client(base_url=url, timeout=DEADLINE_S, trust_env=False) as client,
    ):
        yield client


def _ended(processes: Sequence["subprocess.Popen[bytes]"]) -> None:
    for each in processes:
        if each.poll() is None:
            each.kill()
        each.communicate(timeout=DEADLINE_S)


def remembered(client: httpx.Client, text: str, name: str, **fields: str) -> dict[str, str]:
    """The item, accepted."""
    answer = client.post(
        "/api/v1/remember",
        data={"datasetName": "notes", "run_in_background": "true", **fields},
        files={"data": (name, text.encode())},
    )
    assert answer.status_code == 200, answer.text
    (item,) = answer.json()["items"]
    return dict(item)


def found(client: httpx.Client, query: str) -> list[str]:
    answer = client.post("/api/v1/recall", json={"query": query, "datasets": ["notes"]})
    return [entry["text"] for entry in answer.json()] if answer.status_code == 200 else []


def stage(client: httpx.Client, job: str, wait_s: int = 0) -> str:
    answer = client.get(f"/api/v1/jobs/{job}", params={"wait": wait_s} if wait_s else {})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["stage"])


@promise("P8")
def test_any_gateway_answers_for_what_another_accepted(cluster: Cluster) -> None:
    item = remembered(cluster.one, "Carol founded Initech in Vienna.", "a.txt")
    assert stage(cluster.other, item["job_id"]) in {"accepted", "extracting"}

    cluster.start_worker("extract")
    cluster.start_worker("apply")

    assert stage(cluster.other, item["job_id"], wait_s=50) in {"searchable", "complete"}
    assert found(cluster.other, "Who founded Initech?") == ["Carol founded Initech in Vienna."]
    answer = cluster.other.post("/api/v1/forget", json={"dataset": "notes", "data_id": item["id"]})
    assert answer.json()["status"] == "success"
    assert "Initech" not in str(found(cluster.one, "Who founded Initech?"))


def test_a_session_begun_at_one_gateway_goes_on_at_another(cluster: Cluster) -> None:
    begun = cluster.one.post("/mcp", json=INITIALIZE, headers=MCP)
    session = begun.headers["mcp-session-id"]

    listed = cluster.other.post(
        "/mcp",
        json={"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        headers={**MCP, "mcp-session-id": session, "mcp-protocol-version": "2025-11-25"},
    )

    assert listed.status_code == 200, listed.text
    assert "recall" in listed.text


@promise("P8")
def test_what_a_killed_worker_had_begun_another_ends(cluster: Cluster) -> None:
    killed = cluster.start_worker()
    texts = [f"Entry {number}: the keeper of light {number} is called Ada{number}." for number in range(40)]
    items = [remembered(cluster.one, text, f"{number}.txt") for number, text in enumerate(texts)]
    wait_until(lambda: any(stage(cluster.one, each["job_id"]) == "complete" for each in items))

    killed.send_signal(signal.SIGKILL)
    killed.wait(DEADLINE_S)
    cluster.start_worker()

    assert {stage(cluster.other, each["job_id"], wait_s=50) for each in items} <= {"searchable", "complete"}
    wait_until(lambda: all(stage(cluster.other, each["job_id"]) == "complete" for each in items))
    report = cluster.other.get("/api/v1/audit").json()
    assert (report["isSound"], report["documents"]) == (True, 40), report


def test_a_worker_tells_how_it_is_and_ends_when_it_is_asked_to(cluster: Cluster) -> None:
    port = free_port()
    worker = cluster.start_worker(DORMOUSE_HEALTH_PORT=str(port))
    for question in ("healthz", "readyz"):
        answer = httpx.get(f"http://127.0.0.1:{port}/{question}", trust_env=False)
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})

    worker.send_signal(signal.SIGTERM)

    assert worker.wait(DEADLINE_S) == 0


def test_a_setting_that_is_missing_is_named(tmp_path: Path, stack: Stack) -> None:
    settings = {name: value for name, value in stack.settings().items() if "S3__BUCKET" not in name}
    program = Program(tmp_path, settings)

    done = program.run("worker")

    assert done.returncode == 1
    assert done.stderr == "Error: DORMOUSE_PROFILE=distributed needs DORMOUSE_S3__BUCKET\n"


def test_tables_and_topics_that_were_not_made_are_named(tmp_path: Path, stack: Stack) -> None:
    program = Program(tmp_path, stack.settings())

    without_tables = program.run("serve", "--port", "0")
    assert program.run("migrate").returncode == 0
    without_topics = program.run("serve", "--port", "0")

    assert without_tables.returncode == without_topics.returncode == 1
    assert "dormouse migrate" in without_tables.stderr.splitlines()[-1]
    assert "dormouse topics ensure" in without_topics.stderr.splitlines()[-1]
