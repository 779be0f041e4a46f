"""Whole transactions await nothing but their own statements, on every database alike.

Where a thread runs them they could not; on a server they could, and would hold its rows meanwhile.
"""

from collections.abc import Awaitable, Callable, Generator
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class Whole(Generic[Result]):
    """Awaits `work`, and ends it when it waits while `is_asking` says that no statement is under way."""

    def __init__(self, work: Awaitable[Result], is_asking: Callable[[], bool]) -> None:
        self._work = work
        self._is_asking = is_asking

    def __await__(self) -> Generator[Any, Any, Result]:
        steps: Any = self._work.__await__()
        failure: BaseException | None = None
        answer: Any = None
        while True:
            try:
                waits_for = steps.send(answer) if failure is None else steps.throw(failure)
            except StopIteration as done:
                result: Result = done.value
                return result
            if not self._is_asking():
                steps.close()
                raise RuntimeError("a whole transaction may await nothing but its own methods")
            answer, failure = None, None
            try:
                answer = yield waits_for
            except BaseException as exc:  # noqa: BLE001  the loop's, for whoever waits inside
                failure = exc
