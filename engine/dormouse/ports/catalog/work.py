"""Catalog concern: extraction work, leases and parts. Source: writes §2."""

from collections.abc import Sequence
from typing import Protocol

from dormouse.ids import BlobKey, JobId, WorkspaceId
from dormouse.model.job import Job, PartRow


class WorkLedger(Protocol):
    """Who extracts which job, how far it came, and what nobody has taken up."""

    async def claim(self, job: JobId, holder: str, duration_ms: int) -> Job | None:
        """Lease the job for extraction; None if it is leased, final, parked or already extracted.

        A claim whose predecessor's lease ran out counts as an attempt.
        """
        ...

    async def heartbeat(self, job: JobId, holder: str, duration_ms: int) -> None:
        """Raises `LeaseLostError` when another holds it."""
        ...

    async def release(self, job: JobId, holder: str) -> None: ...

    async def plan(self, job: JobId) -> BlobKey | None:
        """The blob with the job's chunk plan, once stored."""
        ...

    async def save_plan(self, job: JobId, plan: BlobKey, parts: int, passages: int) -> None: ...

    async def add_part(self, part: PartRow) -> None:
        """Storing the same part again is harmless."""
        ...

    async def parts(self, job: JobId) -> Sequence[PartRow]:
        """By index."""
        ...

    async def due(self, limit: int, *, most_bytes: int | None = None) -> Sequence[tuple[WorkspaceId, JobId]]:
        """Jobs that wait for extraction and nobody holds: small ones first, with ageing.

        With `most_bytes`, only those whose content is not longer.
        """
        ...

    async def line_up_again(self, job: Job) -> bool:
        """Give the job a new turn, as if it came now; whether one that waits is before it then."""
        ...

    async def next_due_ms(self) -> int | None:
        """When the earliest parked job or workspace, or the earliest lease that may run out, comes due."""
        ...
