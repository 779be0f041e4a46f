"""The stand-in for a Qdrant server (`tests/real/vector_server`), as a process on a free port."""

import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.toolchain.server_process import ServerProcess, free_port, listens

REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class VectorServer:
    folder: Path
    port: int
    api_key: str
    process: ServerProcess

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.process.start(lambda: listens(self.port))

    def stall(self) -> None:
        """It keeps its connections, takes new ones, and answers nobody until it is let go on."""
        os.kill(self.process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)

    def kill(self) -> None:
        self.process.kill()


@contextmanager
def running(*, version: str = "", most_bytes: int = -1) -> Iterator[VectorServer]:
    """`version` is what it says of itself, `most_bytes` the longest call that it takes, any for -1."""
    folder = Path(tempfile.mkdtemp(prefix="dormouse-vectors-"))
    try:
        port, api_key = free_port(), secrets.token_hex(16)
        process = ServerProcess(
            command=[
                *(sys.executable, "-P", "-m", "tests.real.vector_server.main"),
                *("--folder", folder / "storage", "--port", str(port), "--api-key", api_key),
                *("--most-bytes", str(most_bytes)),
                *(("--version", version) if version else ()),
            ],
            log=folder / "vector-server.log",
            environment={"PYTHONPATH": str(REPOSITORY)},
        )
        server = VectorServer(folder / "storage", port, api_key, process)
        try:
            server.start()
            yield server
        finally:
            process.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
