"""A whole transaction in a thread of its own: one crossing, instead of one for every statement.

A statement costs SQLite some hundredths of a millisecond and a crossing several times as much, on a busy
machine up to the interpreter's switch interval each way. Accepting a note has a dozen statements.
"""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, Engine

from dormouse.adapters.catalog.failures import driver_failures_translated

Result = TypeVar("Result")


class OneCrossing:
    """Runs work on connections of `engine`, in up to `threads` threads of its own."""

    def __init__(self, engine: Engine, threads: int, name: str) -> None:
        self._engine = engine
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def run(self, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        """Whatever `work` did not commit is undone.

        A caller that is cancelled leaves the thread to finish: what it commits then stays, as with any commit
        whose answer nobody heard.
        """
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._threads, context.run, self._run, work)

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._engine.dispose()

    def _run(self, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        with driver_failures_translated(), self._engine.connect() as connection:
            connection.begin()
            return _finished(work(connection))


def _finished(work: Awaitable[Result]) -> Result:
    """The result of a coroutine that never has to wait."""
    steps = cast("Coroutine[Any, Any, Result]", work)
    try:
        steps.send(None)
    except StopIteration as done:
        return cast("Result", done.value)
    steps.close()
    raise RuntimeError("a whole transaction may await nothing but its own methods")
