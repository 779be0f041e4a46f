"""What an empty recall may honestly say: nothing, still indexing, or indexing failed.

Runs only when nothing was found, and never delays or fails the answer.
Source: graph contract, "recall".
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from dormouse.errors import CatalogUnavailableError
from dormouse.ids import DatasetId
from dormouse.model.job import Job, Stage
from dormouse.ports.catalog.transaction import Catalog

BUDGET_S = 5.0  # promised to callers by the contract; not a tuning knob


@dataclass(frozen=True, slots=True)
class Verdict:
    """`done` of `total` passages are applied; `total` is 0 while nobody knows it."""

    outcome: Literal["none", "indexing", "build_failed", "timeout", "error"]
    done: int = 0
    total: int = 0


def judge(latest: Sequence[Job]) -> Verdict:
    """Decide from unfinished jobs, else each dataset's latest; work in flight outranks a failure."""
    running = [job for job in latest if not (job.stage.is_final or job.stage.is_searchable)]
    if running:
        done = sum(job.counts.done for job in running)
        total = sum(job.counts.passages for job in running)
        return Verdict("indexing", done, total)
    if any(job.stage is Stage.FAILED for job in latest):
        return Verdict("build_failed")
    return Verdict("none")


async def probe(catalog: Catalog, datasets: Collection[DatasetId]) -> Verdict:
    """Read the ledger within BUDGET_S and judge; a sick catalog is an outcome, not an error."""
    try:
        async with asyncio.timeout(BUDGET_S), catalog.reading() as tx:
            return judge(await tx.jobs.unfinished_or_latest_of(datasets))
    except TimeoutError:
        return Verdict("timeout")
    except CatalogUnavailableError:
        return Verdict("error")
