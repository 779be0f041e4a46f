"""One run of a module on one input, in a process of its own: without the parent's secrets, bounded in time
and output, and gone afterwards.
"""

import asyncio
import contextlib
import os
import sys
from dataclasses import dataclass

_KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT")


@dataclass(frozen=True, slots=True)
class Bounds:
    wall_s: float
    output_bytes: int


async def run_apart(module: str, argument: str, content: bytes, bounds: Bounds) -> tuple[int, bytes]:
    """Exit code and standard output, which is empty when it was too much; raises `TimeoutError`."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", module, argument,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=_environment(),
        start_new_session=True,  # the terminal's Ctrl-C is for the server, which ends this one itself
        limit=1024 * 1024,
    )  # fmt: skip
    try:
        async with asyncio.timeout(bounds.wall_s):
            output = await _exchange(process, content, bounds.output_bytes)
            return await process.wait(), output
    finally:
        await _end(process)


def _environment() -> dict[str, str]:
    """What Python needs to start, and none of the settings that hold secrets."""
    kept = {name: value for name in _KEPT_ENVIRONMENT if (value := os.environ.get(name))}
    return kept | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


async def _exchange(process: asyncio.subprocess.Process, content: bytes, limit_bytes: int) -> bytes:
    async with asyncio.TaskGroup() as group:
        group.create_task(_feed(process, content), name="apart-feed")
        reading = group.create_task(_collect(process, limit_bytes), name="apart-collect")
    return reading.result()


async def _feed(process: asyncio.subprocess.Process, content: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it died; its exit says why
        process.stdin.write(content)
        await process.stdin.drain()
        process.stdin.close()
        await process.stdin.wait_closed()


async def _collect(process: asyncio.subprocess.Process, limit_bytes: int) -> bytes:
    assert process.stdout is not None
    output = bytearray()
    while block := await process.stdout.read(1024 * 1024):
        output += block
        if len(output) > limit_bytes:
            process.kill()
            return b""
    return bytes(output)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Nothing of it is left, also when the caller was cancelled."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await asyncio.shield(process.wait())
