"""How long to wait before a server is asked again: longer each time, and as at first once it answered. Pure."""

import random

FIRST_S = 0.2
LONGEST_S = 15.0


class BackOff:
    def __init__(self, longest_s: float = LONGEST_S) -> None:
        self._longest_s = longest_s
        self._failures = 0

    def restart(self) -> None:
        self._failures = 0

    def next_s(self) -> float:
        """Spread by up to a half, so that many that failed together do not come back together."""
        wait_s: float = min(FIRST_S * 2 ** min(self._failures, 16), self._longest_s)
        self._failures += 1
        return wait_s * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
