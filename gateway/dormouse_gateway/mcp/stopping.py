"""How long calls may still wait once the process was asked to end: each is to get its answer before it does."""

import time
from collections.abc import Callable

FOREVER = float("inf")


class Stopping:
    """`latest` is a monotonic time in seconds; `grace_s` is less than what the process leaves its calls."""

    def __init__(self, grace_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._grace_s = grace_s
        self._clock = clock
        self._latest = FOREVER

    def begin(self) -> None:
        """The process was asked to end; asking again changes nothing."""
        self._latest = min(self._latest, self._clock() + self._grace_s)

    def latest(self) -> float:
        """No call waits beyond this; FOREVER while nobody asked."""
        return self._latest
