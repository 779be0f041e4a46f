"""An S3 server, versitygw over a folder, built with Go; run as a module, it builds the program."""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.toolchain.cache import fill, kept
from tests.toolchain.server_process import ServerProcess, free_port

MODULE = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
ACCESS_KEY = "dormouse-tests"
REGION = "us-east-1"
DEADLINE_S = 900.0  # a cold build compiles several hundred packages


@dataclass(frozen=True, slots=True)
class S3Server:
    """`buckets` holds a folder for each bucket."""

    buckets: Path
    port: int
    secret_key: str
    process: ServerProcess

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.process.start(self._is_ready)

    def kill(self) -> None:
        self.process.kill()

    def make_bucket(self, name: str) -> Path:
        folder = self.buckets / name
        folder.mkdir()
        return folder

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.endpoint}/health", timeout=1) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False


def installed() -> Path | None:
    """The program; None until `install` has run for this checkout's pin."""
    program = _cached() / "versitygw"
    return program if program.exists() else None


def install() -> None:
    """Needs Go 1.25 or newer and a module proxy, whichever one Go is set to."""
    if not installed():
        fill(_cached(), _install_into)


@contextmanager
def running(program: Path) -> Iterator[S3Server]:
    folder = Path(tempfile.mkdtemp(prefix="dormouse-s3-"))
    try:
        (folder / "buckets").mkdir()
        port, secret_key = free_port(), secrets.token_hex(16)
        process = ServerProcess(
            command=[
                *(program, "--port", f"127.0.0.1:{port}", "--access", ACCESS_KEY, "--secret", secret_key),
                *("--region", REGION, "--quiet", "--health", "/health", "posix", folder / "buckets"),
            ],
            log=folder / "versitygw.log",
        )
        server = S3Server(folder / "buckets", port, secret_key, process)
        try:
            server.start()
            yield server
        finally:
            process.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _cached() -> Path:
    return kept("versitygw", (Path(__file__),))


def _install_into(folder: Path) -> None:
    built = {**os.environ, "GOBIN": str(folder), "GOFLAGS": "-buildvcs=false"}
    subprocess.run(
        ["go", "install", "-trimpath", "-ldflags=-s -w", MODULE], check=True, env=built, timeout=DEADLINE_S
    )


if __name__ == "__main__":
    try:
        install()
    except (OSError, subprocess.SubprocessError) as error:
        sys.exit(f"dormouse: the S3 server could not be built: {type(error).__name__}; why stands above")
