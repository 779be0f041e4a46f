"""A server of the tests: started on loopback with its log kept, ended in every case.

It ends with the test, with the test run, and with a test run that is killed (on Linux, by the parent death
signal).
"""

import ctypes
import os
import pwd
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

START_S = 60.0
STOP_S = 30.0
_PR_SET_PDEATHSIG = 1


# What the signal follows is the thread that started a server, not its process: this one ends with the test run.
_SPAWNER = ThreadPoolExecutor(1, thread_name_prefix="starts servers")


class ServerNotStartedError(Exception):
    """Its message ends with what the server logged."""


@dataclass(frozen=True, slots=True)
class Account:
    """Whom a server runs as where root is refused."""

    uid: int
    gid: int

    @classmethod
    def without_rights(cls) -> "Account | None":
        """None for whoever is not root: the server then runs as the tester."""
        if os.geteuid() != 0:
            return None
        nobody = pwd.getpwnam("nobody")
        return cls(nobody.pw_uid, nobody.pw_gid)


@dataclass(slots=True)
class ServerProcess:
    """`parting` is the signal that ends it at once and in order, `start_s` how long it may take to be ready."""

    command: Sequence[str | Path]
    log: Path
    parting: signal.Signals = signal.SIGTERM
    account: Account | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    start_s: float = START_S
    _process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self, is_ready: Callable[[], bool]) -> None:
        """Raises `ServerNotStartedError` when it ends, or is not ready in time."""
        account = self.account
        with self.log.open("ab") as log:
            self._process = _SPAWNER.submit(
                subprocess.Popen,
                [str(part) for part in self.command],
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=self.log.parent,
                env={"PATH": os.defpath, **self.environment},
                start_new_session=True,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
                preexec_fn=_die_with_the_parent(self.parting),
            ).result()
        end = time.monotonic() + self.start_s
        while not is_ready():
            if self._process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise ServerNotStartedError(f"{self.log.name}: {self.log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.01)

    def kill(self) -> None:
        """As the kernel would, with no time to write anything."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(STOP_S)

    def stop(self) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(self.parting)
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _die_with_the_parent(parting: signal.Signals) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(_PR_SET_PDEATHSIG, int(parting))
