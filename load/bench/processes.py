"""Programs under measurement: started, asked how much processor time and memory they took, and ended.

Linux only: both are read from /proc. A program's own child processes count as the program.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

READY_WITHIN_S = 120.0
ENDED_WITHIN_S = 90.0
DORMOUSE_READY = "Dormouse ready: "
BARE_READY = "bare ready: "

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers; `ready_s` is how long it took from its start to saying so."""

    pid: int
    url: str
    ready_s: float

    def busy_s(self) -> float:
        """Processor seconds so far, of user and system, ended children included."""
        return sum(_busy_s(pid) for pid in family(self.pid))

    def private_bytes(self) -> int:
        """Memory of the whole family; what several of its processes share is counted once (PSS)."""
        return sum(memory_of(self.pid))


@contextmanager
def dormouse(folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[Running]:
    """The product itself, served from `folder` without any setting of whoever measures."""
    with _running(["dormouse.cli.main", "serve", "--port", "0"], DORMOUSE_READY, folder, environment) as server:
        yield server


@contextmanager
def bare(folder: Path) -> Iterator[Running]:
    """The least a server could do for the same request (`load.bench.bare`)."""
    with _running(["load.bench.bare"], BARE_READY, folder, None) as server:
        yield server


@contextmanager
def plain_tool(folder: Path) -> Iterator[Running]:
    """The product's layers around a tool that does nothing (`load.bench.plain_tool`)."""
    with _running(["load.bench.plain_tool"], BARE_READY, folder, None) as server:
        yield server


def memory_of(pid: int) -> list[int]:
    """Bytes of the process and of each that descends from it; what several share is counted once (PSS)."""
    return [_proportional_bytes(each) for each in family(pid)]


def family(pid: int) -> list[int]:
    """The process and all that descend from it and still run."""
    found = [pid]
    for each in found:
        for task in Path(f"/proc/{each}/task").glob("*/children"):
            with suppress(OSError):  # it has just ended
                found += map(int, task.read_text().split())
    return found


@contextmanager
def _running(
    arguments: Sequence[str], ready: str, folder: Path, environment: Mapping[str, str] | None
) -> Iterator[Running]:
    foreign = ("DORMOUSE_", "COGNEE_", "OTEL_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    kept |= {"DORMOUSE_DATA_DIR": str(folder), "DORMOUSE_LOG_LEVEL": "WARNING", **(environment or {})}
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", *arguments], stdout=subprocess.PIPE, env=kept)  # noqa: S603  our own modules
    try:
        assert process.stdout
        for line in process.stdout:
            if line.startswith(ready.encode()):
                url = line.decode().removeprefix(ready).strip()
                yield Running(process.pid, url.rstrip("/"), time.perf_counter() - began)
                return
        raise RuntimeError(f"{arguments[0]} ended before it was ready")
    finally:
        process.terminate()
        process.communicate(timeout=ENDED_WITHIN_S)


def _busy_s(pid: int) -> float:
    if not (Path(f"/proc/{pid}").exists()):
        return 0.0  # it has just ended, and its parent counts it
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS  # utime, stime, cutime, cstime


def _proportional_bytes(pid: int) -> int:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in rollup if line.startswith("Pss:"))
