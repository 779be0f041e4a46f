"""An event loop whose clock jumps to the next timer as soon as nobody can go on.

A test marked `virtual_time` runs on it: a five-second budget ends at once, and `loop.time()` says that five
seconds went by. Work in threads and sockets takes no virtual time, so such a test holds coroutines only.
"""

import asyncio
import selectors
from collections.abc import Callable

PATIENCE_S = 10.0  # real: a test that waits for nothing at all ends in an error instead of hanging


class JumpingSelector(selectors.DefaultSelector):
    """Never sleeps: instead of waiting it says how long it would have."""

    def __init__(self, jump: Callable[[float], None]) -> None:
        super().__init__()
        self._jump = jump

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:  # no timer is left: only a thread could still wake the loop
            ready = super().select(PATIENCE_S)
            if not ready:
                raise RuntimeError("nothing is left that could end this wait")
            return ready
        ready = super().select(0)
        if not ready and timeout > 0:
            self._jump(timeout)
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Starts at zero seconds."""

    def __init__(self) -> None:
        self._now_s = 0.0
        super().__init__(JumpingSelector(self._jump))

    def time(self) -> float:
        return self._now_s

    def _jump(self, by_s: float) -> None:
        self._now_s += by_s
