"""So many at once, and so many a second from then on, for each of many keys. Times are monotonic seconds.

Memory is bounded: of more than `most` keys those that were quiet for longest are forgotten, and start anew
with a full bucket.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class Rate:
    """`burst` is how many may come at once after a pause, at least 1."""

    per_s: float
    burst: int


class TokenBuckets:
    def __init__(self, rate: Rate, clock: Callable[[], float], *, most: int) -> None:
        self._rate = rate
        self._clock = clock
        self._most = most
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> float:
        """0 when there was one to take; else the seconds until there is one, and nothing is taken."""
        now = self._clock()
        left, since = self._left.get(key, (float(self._rate.burst), now))
        left = min(float(self._rate.burst), left + (now - since) * self._rate.per_s)
        has_one = left >= 1
        self._left[key] = (left - 1 if has_one else left, now)
        self._left.move_to_end(key)
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        if has_one:
            return 0.0
        return (1 - left) / self._rate.per_s if self._rate.per_s else inf

    def __len__(self) -> int:
        return len(self._left)
