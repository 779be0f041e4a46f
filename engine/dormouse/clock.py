"""Time as the engine sees it: injected, UTC, whole milliseconds."""

import time
from typing import Protocol


class Clock(Protocol):
    """Whoever needs the time gets one of these; tests move it by hand."""

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01T00:00:00Z."""
        ...


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000
