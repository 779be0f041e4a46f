"""Standard input and output as lines of JSON-RPC, for a loop that must not block on either."""

import asyncio
import json
import os
import sys
import threading
from collections.abc import AsyncIterator
from typing import Any

CHUNK_BYTES = 65_536
_STDIN = 0


async def read_lines() -> AsyncIterator[bytes]:
    """Lines of standard input until it ends; a last one without a line break counts.

    A thread reads the bare descriptor: pipes, terminals and files work alike on every system, and a thread
    that waits in the buffered reader would hang the end of the process.
    """
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue(maxsize=16)

    def pump() -> None:
        chunk = b"-"
        while chunk:
            try:
                chunk = os.read(_STDIN, CHUNK_BYTES)
                asyncio.run_coroutine_threadsafe(chunks.put(chunk), loop).result()
            except (OSError, RuntimeError):  # the descriptor or the loop is gone: so is the client
                return

    threading.Thread(target=pump, name="stdin", daemon=True).start()
    pieces: list[bytes] = []
    while chunk := await chunks.get():
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            yield b"".join([*pieces, line])
            pieces = []
        pieces.append(rest)
    if last := b"".join(pieces):
        yield last


class LineWriter:
    """Writes one message a line; messages of several tasks never mix."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def write(self, message: dict[str, Any]) -> None:
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        async with self._lock:
            await asyncio.to_thread(_put, line)


def _put(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
