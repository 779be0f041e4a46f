"""How the memory of one dataset stands, from its unfinished jobs or its latest one. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dormouse.model.job import Job, Stage


@dataclass(frozen=True, slots=True)
class Standing:
    """`state` is "new" until something was to be made searchable. `done` of `total` passages are applied while
    it is "running"; `total` is 0 while nobody knows it."""

    state: Literal["new", "running", "failed", "done"]
    done: int = 0
    total: int = 0


def standing_of(jobs: Sequence[Job]) -> Standing:
    """`jobs` are those not yet searchable, else the latest; work in flight outranks a failure."""
    running = [job for job in jobs if not (job.stage.is_final or job.stage.is_searchable)]
    if running:
        return Standing(
            "running",
            done=sum(job.counts.done for job in running),
            total=sum(job.counts.passages for job in running),
        )
    if not jobs:
        return Standing("new")
    return Standing("failed" if any(job.stage is Stage.FAILED for job in jobs) else "done")
