"""Half-open intervals of time, in UTC milliseconds, open ends as sentinels so that stores can compare.

Source: contract-recall, "Time".
"""

from dataclasses import dataclass

BEGINNING_MS = -62_135_596_800_000  # 0001-01-01T00:00:00Z
END_MS = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z


@dataclass(frozen=True, slots=True)
class Interval:
    """`start_ms` belongs to it, `end_ms` does not; an empty or inverted one is refused."""

    start_ms: int = BEGINNING_MS
    end_ms: int = END_MS

    def __post_init__(self) -> None:
        if self.start_ms >= self.end_ms:
            raise ValueError("an interval must end after it starts")

    def covers(self, instant_ms: int) -> bool:
        return self.start_ms <= instant_ms < self.end_ms

    @property
    def has_start(self) -> bool:
        return self.start_ms > BEGINNING_MS

    @property
    def has_end(self) -> bool:
        return self.end_ms < END_MS
