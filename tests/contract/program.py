"""The real `dormouse` as a process, on a folder of its own; whatever it started ends with the test."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue

import httpx

from dormouse.adapters.data_folder.server_file import ServerAddress, published

READY = "Dormouse ready: "
DEADLINE_S = 90.0
COMMAND = (sys.executable, "-m", "dormouse.cli.main")


class Program:
    """`environment` adds to one without any setting of whoever runs the tests."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        foreign = ("DORMOUSE_", "COGNEE_", "OTEL_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        self.folder = folder
        self.environment = {**kept, "DORMOUSE_DATA_DIR": str(folder), **(environment or {})}

    @staticmethod
    def command(*arguments: str) -> list[str]:
        return [*COMMAND, *arguments]

    def run(self, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[str]:
        """A command until it ends."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            input=given,
            capture_output=True,
            timeout=DEADLINE_S,
            env=self.environment,
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """A command that goes on; the caller ends it."""
        return subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
        )

    @contextmanager
    def serving(self, *arguments: str) -> Iterator[str]:
        """The address of a server in the foreground, ready."""
        process = self.start("serve", "--port", "0", *arguments)
        try:
            assert process.stdout
            for line in lines_of(process.stdout):
                if line.startswith(READY.encode()):
                    yield line.decode().removeprefix(READY).strip()
                    return
            assert process.stderr
            raise AssertionError(f"the server did not become ready: {process.stderr.read().decode()}")
        finally:
            process.terminate()
            process.communicate(timeout=DEADLINE_S)

    @property
    def address(self) -> ServerAddress:
        address = published(self.folder)
        assert address, "no server published its address"
        return address

    @contextmanager
    def client(self, **headers: str) -> Iterator[httpx.Client]:
        """Speaks to the server as this machine's user, or with the given headers."""
        address = self.address
        given = headers or {"Authorization": f"Bearer {address.token}"}
        with httpx.Client(base_url=address.url, headers=given, timeout=DEADLINE_S, trust_env=False) as client:
            yield client

    def end(self) -> None:
        """Kill the server that a command left behind."""
        address = published(self.folder)
        if address:
            kill(address.pid)


def kill(pid: int) -> None:
    """SIGKILL, and wait until the system has let go of it."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    wait_until(lambda: not is_alive(pid))


def is_alive(pid: int) -> bool:
    """A zombie is dead: it holds no lock and answers nobody."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until(condition: Callable[[], bool]) -> None:
    """Until `condition()` holds; fails after the deadline."""
    tick = threading.Event()
    for _ in range(int(DEADLINE_S / 0.05)):
        if condition():
            return
        tick.wait(0.05)
    raise AssertionError("the condition did not come true in time")


def lines_of(stream: Iterable[bytes]) -> Iterator[bytes]:
    """Lines as they come, until the end or the deadline."""
    found: Queue[bytes | None] = Queue()

    def read() -> None:
        for line in stream:
            found.put(line)
        found.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = found.get(timeout=DEADLINE_S)
        except Empty:
            raise AssertionError("nothing came in time") from None
        if line is None:
            return
        yield line
