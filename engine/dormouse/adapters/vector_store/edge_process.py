"""Calls into the process that holds the vectors: one at a time, from a thread of their own.

A process that died is started anew by the next call; the call it died in fails as unavailable.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from dormouse import telemetry
from dormouse.adapters.vector_store.edge_calls import DamagedVectorsError, read_frame, write_frame
from dormouse.errors import InvalidInputError, OverloadedError, StoreUnavailableError

MAX_WAITING = 256  # calls; beyond it the store is overloaded
GOODBYE_S = 30.0  # it ends by itself once its input ends; a rewrite takes a second or two
PIPE_BYTES = 1024 * 1024  # an answer to a recall is half of that: one wake-up instead of eight
_MODULE = "dormouse.adapters.vector_store.edge_main"
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1"}  # its products are small: threads would wait longer than they work


class DamagedFilesError(StoreUnavailableError):
    """The files cannot be opened; calls that find it out later see a store that does not answer."""

    def __init__(self) -> None:
        super().__init__(port="vector")


class EdgeProcess:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="vectors")
        self._process: subprocess.Popen[bytes] | None = None
        self._greeting: tuple[str, tuple[Any, ...]] | None = None
        self._waiting = 0
        self._is_closed = threading.Event()

    async def open(self, *arguments: Any) -> Any:  # noqa: ANN401 what the shard's method takes and gives
        """Repeated by itself whenever the process had to be started anew."""
        self._greeting = ("open", arguments)
        return await self._in_thread(self._start)

    async def call(self, method: str, *arguments: Any) -> Any:  # noqa: ANN401 what the method takes and gives
        return await self._in_thread(self._exchange, method, arguments)

    async def close(self) -> None:
        if not self._is_closed.is_set():
            self._is_closed.set()
            await asyncio.get_running_loop().run_in_executor(self._thread, self._stop)
            self._thread.shutdown(wait=False)

    async def _in_thread(self, work: Any, *arguments: Any) -> Any:  # noqa: ANN401
        if self._is_closed.is_set():
            raise StoreUnavailableError(port="vector")
        if self._waiting >= MAX_WAITING:
            raise OverloadedError("too many calls wait for the vectors")
        self._waiting += 1
        # A caller that gives up leaves the thread to finish the exchange: an answer read by halves would
        # make every later one somebody else's.
        queued_s = time.monotonic()

        def begin() -> Any:  # noqa: ANN401
            telemetry.pool_waited("vectors", time.monotonic() - queued_s)
            return work(*arguments)

        work_done = asyncio.get_running_loop().run_in_executor(self._thread, begin)
        work_done.add_done_callback(self._one_less)
        return await work_done

    def _one_less(self, _done: object) -> None:
        self._waiting -= 1

    def _exchange(self, method: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
        if self._process is None:
            self._start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            write_frame(process.stdin, (method, arguments))
            is_answer, result = read_frame(process.stdout)
        except (EOFError, OSError) as exc:
            self._stop()
            # The engine maps its files: damaged ones may end the process instead of the call.
            is_crash = method == "open" and process.returncode < 0
            raise DamagedFilesError if is_crash else StoreUnavailableError(port="vector") from exc
        if is_answer:
            return result
        if result == "UnicodeEncodeError":
            raise InvalidInputError("text must be valid Unicode, without lone surrogates")
        if result == DamagedVectorsError.__name__:
            self._stop()
            raise DamagedFilesError
        raise StoreUnavailableError(port="vector") from RuntimeError(result)

    def _start(self) -> Any:  # noqa: ANN401
        self._stop()
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._process = subprocess.Popen(  # noqa: S603 our own module
                [sys.executable, "-m", _MODULE, str(self._folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pipesize=PIPE_BYTES,
                env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # the terminal's Ctrl-C is for the server, which ends this one in order
            )
        except OSError as exc:
            raise StoreUnavailableError(port="vector") from exc
        assert self._greeting is not None, "open comes first"
        return self._exchange(*self._greeting)

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(OSError):  # it is gone already
            process.stdin.close()
        try:
            process.wait(GOODBYE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
