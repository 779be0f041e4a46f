"""Catalog concern: jobs as receipts. Source: writes §4."""

from collections.abc import Collection, Sequence
from typing import Protocol

from dormouse.ids import DatasetId, DocumentId, JobId, PrincipalId, WorkspaceId
from dormouse.model.job import Job, JobStep, Stage


class JobLedger(Protocol):
    """Receipts and the steps each went through."""

    async def add(self, job: Job) -> None: ...

    async def get(self, job: JobId) -> Job:
        """Raises `NotFoundError`."""
        ...

    async def save(self, job: Job) -> None:
        """Replace the row and note a changed stage as a step; a final job raises `ConflictError`."""
        ...

    async def steps(self, job: JobId) -> Sequence[JobStep]: ...

    async def listing(
        self,
        workspace: WorkspaceId,
        principal: PrincipalId,
        *,
        datasets: Collection[DatasetId] = (),
        stages: Collection[Stage] = (),
        before: tuple[int, JobId] | None = None,
        limit: int = 50,
    ) -> Sequence[Job]:
        """Own jobs or, where `datasets` are named, everybody's of those alone; newest first by (accepted_ms,
        id), and `before` continues."""
        ...

    async def unfinished_or_latest_of(self, datasets: Collection[DatasetId]) -> Sequence[Job]:
        """Remember jobs not yet searchable, and for datasets without one the latest that was not cancelled.

        Only what came after the last forget of the whole dataset counts.
        """
        ...

    async def unfinished_of(self, document: DocumentId) -> Sequence[Job]: ...

    async def idempotent(self, principal: PrincipalId, route: str, key: str) -> tuple[str, str] | None:
        """The answer and body hash recorded under this key in the last 24 h; the hash is empty once what was
        written is erased."""
        ...

    async def remember_key(
        self, principal: PrincipalId, route: str, key: str, body_sha256: str, answer: str
    ) -> None:
        """`answer` is the id of the job, dataset or session entry that the call made."""
        ...
