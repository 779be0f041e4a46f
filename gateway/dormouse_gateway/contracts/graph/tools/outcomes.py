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
from dormouse_gateway.mcp.tool import Call, ToolRefusal

_CANCELLED = {
    CancelReason.FORGOTTEN: "the content was forgotten before it became searchable",
    CancelReason.SUPERSEDED: "a newer version of the content took its place",
    CancelReason.BY_OWNER: "it was cancelled",
    CancelReason.WORKSPACE_DELETED: "its workspace was deleted",
}


async def wait_for_all(
    engine: Engine, call: Call, scope: Scope, jobs: Sequence[Job], *, until: Literal["searchable", "final"]
) -> list[Job]:
    """The jobs as they stand once each got there, or when the call's budget ends for all of them together."""
    ends = time.monotonic() + call.budget_s

    async def tell(job: Job) -> None:
        await call.report(progress_line(job))

    settled = []
    for job in jobs:
        if not _is_there(job, until):
            left_s = max(0.0, ends - time.monotonic())
            job = await engine.wait(scope, job.id, until=until, budget_s=left_s, progress=tell)  # noqa: PLW2901
        settled.append(job)
    return settled


def progress_line(job: Job) -> str:
    """What is done of how much, as far as it is known."""
    if job.counts.passages and not job.kind.is_forget:
        return f"{job.stage}: {job.counts.done} of {job.counts.passages} passages"
    return f"{job.stage}"


def refuse_failure(job: Job, failure: str) -> None:
    """Raises ToolRefusal with the reason when the job failed or was cancelled; else does nothing."""
    if job.stage is Stage.FAILED:
        message = job.failure.message if job.failure else "the job failed"
        again = "\nFix: Try again; the content was not stored." if job.failure and job.failure.retryable else ""
        raise ToolRefusal(f"{failure}{message}{again}")
    if job.stage is Stage.CANCELLED:
        reason = _CANCELLED[job.cancel_reason] if job.cancel_reason else "it was cancelled"
        raise ToolRefusal(f"{failure}{reason}.")


def job_ids(jobs: Sequence[Job]) -> list[JobId]:
    return [job.id for job in jobs]


def _is_there(job: Job, until: Literal["searchable", "final"]) -> bool:
    return job.stage.is_final or (until == "searchable" and job.stage.is_searchable)
