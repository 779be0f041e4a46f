"""Catalog concern: jobs whose memories a language model is still to derive. Source: writes §4."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from dormouse.ids import BlobKey, DatasetId, JobId
from dormouse.model.job import Job


class EnrichmentLedger(Protocol):
    """Who derives memories for which job, and which windows are stored. Heartbeat and release are those of
    extraction, under a holder of their own."""

    async def claim_next(self, holder: str, duration_ms: int) -> Job | None:
        """Lease the first job that is searchable and waits for it; None when none is due and free.

        A claim whose predecessor's lease ran out counts as an attempt.
        """
        ...

    async def next_due_ms(self) -> int | None:
        """When the earliest parked job, or the earliest lease that may run out, comes due."""
        ...

    async def windows(self, job: JobId) -> Mapping[int, BlobKey]:
        """The blobs of the windows that are stored already, by index; their change rows name them."""
        ...

    async def unfinished(self, dataset: DatasetId | None = None, limit: int = 1000) -> Sequence[Job]:
        """Searchable jobs that have not ended, of one dataset or all, oldest first."""
        ...
