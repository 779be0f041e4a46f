"""Why a recall found nothing, beyond what the search itself can tell."""

import asyncio
from collections.abc import Sequence

from dormouse.engine import Engine
from dormouse.errors import DormouseError
from dormouse.ids import DatasetId
from dormouse.model.job import Stage
from dormouse.model.scope import Scope

BUDGET_S = 1.0  # an explanation never delays an answer for longer
MOST_NAMED = 3


async def was_nothing_ever_built(engine: Engine, scope: Scope, datasets: frozenset[DatasetId] | None) -> bool:
    """Whether there is not even a receipt of a write; False when that cannot be said in time."""
    try:
        async with asyncio.timeout(BUDGET_S):
            return not await engine.jobs(scope, datasets=tuple(datasets or scope.readable), limit=1)
    except (DormouseError, TimeoutError):
        return False


async def failed_items(engine: Engine, scope: Scope, datasets: frozenset[DatasetId] | None) -> Sequence[str]:
    """A line for each of the newest items that could not be remembered; empty when that takes too long."""
    try:
        async with asyncio.timeout(BUDGET_S):
            wanted = tuple(datasets or scope.readable)
            jobs = await engine.jobs(scope, datasets=wanted, stages=(Stage.FAILED,), limit=MOST_NAMED)
            names = await engine.document_names(scope, [job.document for job in jobs if job.document])
    except (DormouseError, TimeoutError):
        return ()
    lines = []
    for job in jobs:
        name = names.get(job.document, "") if job.document else ""
        if name and job.failure:
            lines.append(f"{name[:200]} is not searched: {job.failure.message}")
    return lines
