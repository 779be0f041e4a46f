"""How a job moves from stage to stage; final stages never change. Pure.

Source: writes §3 and §4.
"""

from dataclasses import fields, replace

from dormouse.errors import DormouseError
from dormouse.model.job import CancelReason, Job, JobCounts, JobFailure, Stage

MAX_ATTEMPTS = 8  # errors not known as passing; the eighth is final
GIVE_UP_MS = 7 * 24 * 3600 * 1000  # trouble that passes is waited for this long
SHORTEST_PAUSE_MS = 1_000
LONGEST_PAUSE_MS = 60_000
_INTERNAL = "an internal error stopped it; trying again may help"


def added(counts: JobCounts, more: JobCounts) -> JobCounts:
    """Both counts, field by field."""
    return JobCounts(
        **{each.name: getattr(counts, each.name) + getattr(more, each.name) for each in fields(counts)}
    )


def moved(job: Job, stage: Stage, now_ms: int) -> Job:
    """On to `stage`, with its times; whatever parked it is over."""
    return replace(
        job,
        stage=stage,
        updated_ms=now_ms,
        searchable_ms=job.searchable_ms if job.searchable_ms or not stage.is_searchable else now_ms,
        finished_ms=now_ms if stage.is_final else None,
        parked_reason=None,
        next_attempt_ms=None,
    )


def cancelled(job: Job, reason: CancelReason, now_ms: int) -> Job:
    return replace(moved(job, Stage.CANCELLED, now_ms), cancel_reason=reason)


def failed(job: Job, failure: JobFailure, now_ms: int) -> Job:
    return replace(moved(job, Stage.FAILED, now_ms), failure=failure)


def parked(job: Job, reason: str, now_ms: int, *, pause_ms: int) -> Job:
    """It keeps its stage and waits; `reason` is an error's code, never its text."""
    return replace(job, parked_reason=reason, next_attempt_ms=now_ms + pause_ms, updated_ms=now_ms)


def failure_of(error: Exception, stage: Stage) -> JobFailure:
    """What a receipt says of an error: our own messages are safe to show, foreign ones are not."""
    if isinstance(error, DormouseError):
        return JobFailure(code=error.code, message=str(error), retryable=error.retryable, stage=stage)
    return JobFailure(code="internal", message=_INTERNAL, retryable=True, stage=stage)


def waited_too_long(job: Job, now_ms: int) -> bool:
    return now_ms - job.accepted_ms >= GIVE_UP_MS


def passing_pause_ms(waited_ms: int, retry_after_s: int = 0) -> int:
    """A quarter of what it has waited already, within bounds: grows by itself and needs no counter."""
    return max(min(max(waited_ms // 4, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS), retry_after_s * 1_000)


def attempt_pause_ms(attempts: int) -> int:
    """Doubling from a quarter of a second, so that eight attempts take about half a minute."""
    return min(250 << min(attempts, 16), LONGEST_PAUSE_MS)
