"""How a write ended, in the contract's words, for the tools that wait for one.

Source: graph contract, "remember" and "forget"; writes §4.
"""

import time
from collections.abc import Sequence
from typing import Literal

from dormouse.engine import Engine
from dormouse.ids import JobId
from dormouse.model.job import CancelReason, Job, Stage
from dormouse.model.scope import Scope
from dormouse_gateway.mcp.problems import fix_of
from dormouse_gateway.mcp.tool import Call, ToolRefusal

Goal = Literal["searchable", "final"]

SLICE_S = 5.0  # how late a call may notice that the process is to end

_CANCELLED = {
    CancelReason.FORGOTTEN: "the content was forgotten before it became searchable",
    CancelReason.SUPERSEDED: "a newer version of the content took its place",
    CancelReason.BY_OWNER: "it was cancelled",
    CancelReason.WORKSPACE_DELETED: "its workspace was deleted",
}


async def wait_for_all(
    engine: Engine, call: Call, scope: Scope, jobs: Sequence[Job], *, until: Goal
) -> list[Job]:
    """The jobs as they stand once each got there, or when the call's budget ends for all of them together."""
    ends = time.monotonic() + call.budget_s
    settled = []
    for job in jobs:
        if not _is_there(job, until):
            job = await _waited(engine, call, scope, job, until, ends)  # noqa: PLW2901
        settled.append(job)
    return settled


async def _waited(engine: Engine, call: Call, scope: Scope, job: Job, until: Goal, ends: float) -> Job:
    """In slices, since the process may be asked to end in between."""

    async def tell(changed: Job) -> None:
        await call.report(progress_line(changed))

    while True:
        left_s = min(ends, call.latest()) - time.monotonic()
        slice_s = max(0.0, min(left_s, SLICE_S))
        job = await engine.wait(scope, job.id, until=until, budget_s=slice_s, progress=tell)
        if _is_there(job, until) or left_s <= SLICE_S:
            return job


def progress_line(job: Job) -> str:
    """What is done of how much, as far as it is known."""
    if job.counts.passages and not job.kind.is_forget:
        return f"{job.stage}: {job.counts.done} of {job.counts.passages} passages"
    return f"{job.stage}"


def refuse_failure(job: Job, failure: str) -> None:
    """Raises ToolRefusal with the reason when the job failed or was cancelled; else does nothing."""
    if job.stage is Stage.FAILED:
        message = job.failure.message if job.failure else "the job failed"
        fix = fix_of(job.failure.code) if job.failure else ""
        raise ToolRefusal(f"{failure}{message}" + (f"\nFix: {fix}" if fix else ""))
    if job.stage is Stage.CANCELLED:
        reason = _CANCELLED[job.cancel_reason] if job.cancel_reason else "it was cancelled"
        raise ToolRefusal(f"{failure}{reason}.")


def job_ids(jobs: Sequence[Job]) -> list[JobId]:
    return [job.id for job in jobs]


def _is_there(job: Job, until: Goal) -> bool:
    return job.stage.is_final or (until == "searchable" and job.stage.is_searchable)
