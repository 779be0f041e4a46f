"""The process that holds the vectors: reads calls from its input, answers on its output, ends with its parent.

It exists because the engine keeps Python's lock while it works: inside the server, every rewrite of a segment
would hold up every request for a second. Apart from that, a crash of the engine is not a crash of the server.
The end of the input is the end of the parent, however it came.
"""

import contextlib
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from dormouse.adapters.data_folder.lock import owned
from dormouse.adapters.vector_store.edge_calls import DamagedVectorsError, read_frame, write_frame
from dormouse.adapters.vector_store.edge_record import CollectionRecord
from dormouse.adapters.vector_store.edge_shard import Shard
from dormouse.errors import DataFolderBusyError

LOCK_WAIT_S = 15.0  # the process of a killed parent may be in the middle of a rewrite
LEARN_AT_ONCE = 32  # points, in about two milliseconds
LEARN_EVERY_S = 0.01  # 100,000 in a minute, from a sixth of one processor
LOOK_EVERY_S = 1.0  # an erase lets everything be learned anew
RECORD_NAME = "collection.json"
SHARD_NAME = "shard"


class _Server:
    """Answers one call at a time; between calls a thread learns points, so that no recall waits for it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shard: Shard | None = None
        self._turn = threading.Lock()
        self._is_closing = threading.Event()
        self._learning = threading.Thread(target=self._learn, name="learn-points", daemon=True)

    def answer(self, method: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401 by method
        with self._turn:
            if method == "open":
                return self._open(*arguments)
            return getattr(self._shard, method)(*arguments)

    def close(self) -> None:
        self._is_closing.set()
        with self._turn:
            if self._shard is not None:
                self._shard.close()

    def _learn(self) -> None:
        pause_s = LEARN_EVERY_S
        while not self._is_closing.wait(pause_s):
            with self._turn:
                if self._is_closing.is_set() or self._shard is None:
                    return
                has_more = self._shard.learn(LEARN_AT_ONCE)
            pause_s = LEARN_EVERY_S if has_more else LOOK_EVERY_S

    def _open(self, model: str, dimension: int, must_exist: bool) -> tuple[str, int]:  # noqa: FBT001 - crosses a pipe
        """What is recorded; the shard is opened only if that is what the caller expects.

        Raises `DamagedVectorsError` for files that cannot be read, or are not there where they must be.
        """
        try:
            return self._opened(model, dimension, must_exist=must_exist)
        except OSError:
            raise  # a full disk or missing rights: the files may be sound
        except BaseException as exc:
            raise DamagedVectorsError from exc

    def _opened(self, model: str, dimension: int, *, must_exist: bool) -> tuple[str, int]:
        record, asked = CollectionRecord.read(self._folder / RECORD_NAME), CollectionRecord(model, dimension)
        if record is None and must_exist:
            raise DamagedVectorsError
        if record is None or record == asked:
            self._shard = Shard(self._folder / SHARD_NAME, dimension, must_exist=record is not None)
        if record is None:
            asked.write(self._folder / RECORD_NAME)
        if self._shard is not None and not self._learning.is_alive():
            self._learning.start()
        found = record or asked
        return found.model, found.dimension


def serve(folder: Path, calls: IO[bytes], answers: IO[bytes]) -> None:
    server = _Server(folder)
    while True:
        try:
            method, arguments = read_frame(calls)
        except EOFError:
            return server.close()
        try:
            outcome: tuple[bool, Any] = (True, server.answer(method, arguments))
        except BaseException as exc:  # noqa: BLE001 the process boundary; a panic of the engine is no Exception
            outcome = (False, type(exc).__name__)
        try:
            write_frame(answers, outcome)
        except BrokenPipeError:
            return None  # the parent was killed meanwhile


def _until(deadline: float, attempt: Callable[[], None]) -> None:
    while True:
        try:
            return attempt()
        except DataFolderBusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _report(error: BaseException) -> None:
    """One line as the server's own log has them: the kind of error and where, never a path or a trace."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    at = [f"{Path(each.filename).name}:{each.lineno} {each.name}" for each in last]
    line = {"event": "vectors_process_failed", "level": "error", "error": type(error).__name__, "at": at}
    with contextlib.suppress(OSError):
        sys.stderr.write(json.dumps(line) + "\n")


def main() -> None:
    folder = Path(sys.argv[1])
    sys.excepthook = lambda _kind, error, _tb: _report(error)
    threading.excepthook = lambda ended: _report(ended.exc_value or RuntimeError())
    # Frames get the real output to themselves; whatever prints goes to the log.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def locked() -> None:
        with owned(folder):
            serve(folder, sys.stdin.buffer, answers)

    try:
        _until(time.monotonic() + LOCK_WAIT_S, locked)
    except DataFolderBusyError:
        sys.exit("the vectors are held by another process")


if __name__ == "__main__":
    main()
