"""Starting and resting: from the process's start to its first answer, and what it holds then."""

import tempfile
from pathlib import Path

from load.bench.measured import head, row
from load.bench.options import Options
from load.bench.processes import dormouse

STARTS = 5


async def run(options: Options) -> None:  # noqa: ARG001  every subject takes them
    with tempfile.TemporaryDirectory() as folder:
        with dormouse(Path(folder)):
            pass  # makes the files and warms the disk
        starts = []
        for _ in range(STARTS):
            with dormouse(Path(folder)) as server:
                starts.append((server.ready_s, server.busy_s(), server.private_bytes() / 1e6))
    ready, busy, memory = (sorted(column)[STARTS // 2] for column in zip(*starts, strict=True))
    head("a start, the middle of five", "s until ready", "s of processor time", "MB of all processes (PSS)")
    row("on a folder that is there", ready, busy, memory)
