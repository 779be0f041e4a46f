"""Calls that take their time: progress, a client that leaves, a server that is told to stop."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.contract.mcp.stalling_server import CANCELLED, FOLDER, RELEASED, WAITING
from tests.contract.mcp.talk import ACCEPT, MODES, Mode, a_call, a_request, as_modern, post, result_of
from tests.contract.program import DEADLINE_S, READY, Program, lines_of, wait_until


class Stall:
    """A server that answers `remember` only when told to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        environment = Program(folder / "memory", {FOLDER: str(folder), "DORMOUSE_PORT": "0"}).environment
        command = [sys.executable, "-m", "tests.contract.mcp.stalling_server"]
        self.process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]
        )
        assert self.process.stdout
        ready = next(line for line in lines_of(self.process.stdout) if line.startswith(READY.encode()))
        self.url = ready.decode().removeprefix(READY).strip()

    def release(self) -> None:
        (self.folder / RELEASED).touch()

    def wait_for(self, event: str) -> None:
        wait_until((self.folder / event).exists)

    def end(self) -> None:
        self.release()
        self.process.terminate()
        self.process.wait(DEADLINE_S)
        assert self.process.stdout
        self.process.stdout.close()


@pytest.fixture
def stall(tmp_path: Path) -> Iterator[Stall]:
    stall = Stall(tmp_path)
    yield stall
    stall.end()


class Answer:
    """One call made in a thread of its own."""

    def __init__(self, url: str, mode: Mode, data: str) -> None:
        message = a_call("remember", {"data": data}, token="t")
        body, headers = (message, {}) if mode == "legacy" else as_modern(message)
        self._request = (f"{url}/mcp", json.dumps(body), {**ACCEPT, **headers})
        self.lines: list[str] = []
        self.client = httpx.Client(trust_env=False, timeout=DEADLINE_S)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        url, content, headers = self._request
        with self.client.stream("POST", url, content=content, headers=headers) as answer:
            self.lines += [line for line in answer.iter_lines() if line.startswith("data: ")]

    def messages(self) -> list[dict[str, Any]]:
        self._thread.join(DEADLINE_S)
        self.client.close()
        return [json.loads(line.removeprefix("data: ")) for line in self.lines]


@pytest.mark.parametrize("mode", MODES)
def test_a_call_in_flight_gets_its_result_when_the_server_is_told_to_stop(stall: Stall, mode: Mode) -> None:
    answer = Answer(stall.url, mode, "Tea is at four.")
    stall.wait_for(WAITING)

    stall.process.send_signal(signal.SIGTERM)
    wait_until(lambda: not _accepts(stall.url))
    stall.release()
    *progress, last = answer.messages()

    assert {message["method"] for message in progress} == {"notifications/progress"}
    assert progress[0]["params"]["progressToken"] == "t"
    assert last["result"]["content"][0]["text"].startswith("Stored permanently")
    assert stall.process.wait(DEADLINE_S) == 0


@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_leaves_ends_the_wait_and_not_the_job(stall: Stall, mode: Mode) -> None:
    message = a_call("remember", {"data": "Tea is at five."})
    body, headers = (message, {}) if mode == "legacy" else as_modern(message)
    client = HTTPConnection(urlsplit(stall.url).netloc, timeout=DEADLINE_S)
    client.request("POST", "/mcp", json.dumps(body), {**ACCEPT, **headers})
    stall.wait_for(WAITING)
    client.close()
    stall.wait_for(CANCELLED)
    stall.release()

    wait_until(lambda: _status(stall.url) == "DATASET_PROCESSING_COMPLETED")


def test_other_calls_are_answered_while_one_waits(stall: Stall) -> None:
    answer = Answer(stall.url, "legacy", "Tea is at six.")
    stall.wait_for(WAITING)

    assert post(stall.url, a_request("ping")).status_code == 200
    stall.release()
    assert answer.messages()[-1]["result"]["isError"] is False


def test_a_caller_may_ask_for_less_time(stall: Stall) -> None:
    stall.release()
    answer = post(stall.url, a_call("remember", {"data": "Tea is at seven."}), x_dormouse_deadline_ms="0")

    text = result_of(answer)["content"][0]["text"]
    assert text.splitlines()[0] == (
        "Stored permanently in knowledge graph (dataset=main_dataset, status=running)."
    )
    assert text.splitlines()[1].endswith("goes on by itself; check progress with cognify_status.")


def _accepts(url: str) -> bool:
    try:
        httpx.get(f"{url}/healthz", trust_env=False)
    except httpx.TransportError:  # refused, or accepted by the system and then let go
        return False
    return True


def _status(url: str) -> str:
    text = result_of(post(url, a_call("cognify_status", {})))["content"][0]["text"]
    return str(text).rpartition(": '")[2].removesuffix("'}")
