"""What a benchmark is told: where filled stores are kept, and how much to measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """`cache` keeps filled stores from run to run; `passages` are the sizes of those for recall."""

    cache: Path
    passages: Sequence[int]
    questions: int
