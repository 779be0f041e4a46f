"""One server after another on one folder, each killed at its point, until all deeds are acknowledged."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from queue import Empty, Queue

import httpx

from tests.contract.crash.deeds import Deed
from tests.contract.crash.kill_points import VARIABLE, KillPoint

READY = "Dormouse ready: "
START_DEADLINE_S = 60.0
REPOSITORY = Path(__file__).parents[3]


class ServerDiedError(Exception):
    """The server is gone; what it was doing is unknown."""


class Life:
    """One process from its start to its kill."""

    def __init__(self, folder: Path, point: KillPoint | None, log: Path) -> None:
        environment = {**os.environ, "DORMOUSE_DATA_DIR": str(folder), "DORMOUSE_PORT": "0"}
        environment.pop(VARIABLE, None)
        if point:
            environment[VARIABLE] = str(point)
        self.point = point
        self._log = log.open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.contract.crash.server"],
            cwd=REPOSITORY,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        self._client = httpx.Client(timeout=90.0)
        self._url = self._ready_url()

    def _ready_url(self) -> str:
        lines: Queue[str | None] = Queue()
        threading.Thread(target=self._read, args=(lines,), daemon=True).start()
        while True:
            try:
                line = lines.get(timeout=START_DEADLINE_S)
            except Empty:
                self.kill()
                raise AssertionError("the server did not become ready") from None
            if line is None:
                self.close()
                raise ServerDiedError
            if line.startswith(READY):
                return line.removeprefix(READY).strip()

    def _read(self, lines: "Queue[str | None]") -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            lines.put(line.decode())
        lines.put(None)

    def call(self, method: str, path: str, **what: object) -> httpx.Response:
        """Raises `ServerDiedError` when the connection breaks or cannot be made."""
        try:
            return self._client.request(method, self._url + path, **what)  # type: ignore[arg-type]  # kwargs pass through
        except httpx.TransportError:
            self.close()
            raise ServerDiedError from None

    def was_killed(self) -> bool:
        return self._process.poll() == -signal.SIGKILL

    def kill(self) -> None:
        self._process.kill()
        self.close()

    def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        self._process.terminate()
        self.close()
        return self._process.returncode

    def close(self) -> None:
        self._process.wait(timeout=START_DEADLINE_S)
        self._client.close()
        if self._process.stdout:
            self._process.stdout.close()
        self._log.close()


def send(life: Life, deed: Deed) -> tuple[list[str], str | None]:
    """Do it; returns the receipts' job ids and, for a remember, the document."""
    if deed.kind in ("suppress", "restore"):
        reply = life.call("POST", f"/api/v1/datasets/{deed.dataset}/data/{deed.target}/{deed.kind}")
        assert reply.status_code in (200, 202), reply.text
        return [reply.json()["id"]], None
    if deed.kind in ("forget_item", "forget_dataset"):
        body = {"dataset": deed.dataset, **({"dataId": deed.target} if deed.target else {})}
        reply = life.call("POST", "/api/v1/forget", json=body)
        assert reply.status_code in (200, 202, 404), reply.text
        return [], None
    reply = life.call("POST", "/api/v1/remember", **_form(deed))
    assert reply.status_code == 200, reply.text
    item = reply.json()["items"][0]
    return [item["job_id"]], item["id"]


def _form(deed: Deed) -> Mapping[str, object]:
    fields = {"datasetName": deed.dataset, "run_in_background": "true" if deed.number % 4 else "false"}
    headers = {"Idempotency-Key": f"deed-{deed.number}"}
    if deed.kind == "file":
        return {"data": fields, "files": {"data": (deed.name, deed.body.encode())}, "headers": headers}
    extra = {"raw_data": deed.body, "kind": "chat" if deed.kind == "chat" else "text"}
    whole = {name: (None, value) for name, value in {**fields, **extra}.items()}  # multipart without a file
    return {"files": whole, "headers": headers}
