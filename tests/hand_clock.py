"""A clock that moves only when a test moves it."""


class HandClock:
    """Starts at a Monday noon, so that relative dates in tests read easily."""

    def __init__(self, now_ms: int = 1_767_614_400_000) -> None:  # 2026-01-05T12:00:00Z
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms

    def advance(self, by_ms: int) -> None:
        if by_ms < 0:
            raise ValueError("time does not run backwards")
        self._now_ms += by_ms
