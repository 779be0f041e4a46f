"""Blobs: content, chunk plans, parts and change sets, each written once under a key of its job.

A blob is on disk when `put` returns. Keys are `workspace/job/sha256`.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from dormouse.ids import BlobKey, JobId, WorkspaceId


@dataclass(frozen=True, slots=True)
class BlobInfo:
    key: BlobKey
    size_bytes: int
    modified_ms: int


class BlobStore(Protocol):
    async def put(self, workspace: WorkspaceId, job: JobId, content: bytes) -> BlobKey:
        """Store under the content's own hash; putting the same again is harmless."""
        ...

    async def get(self, key: BlobKey) -> bytes:
        """Raises `NotFoundError` for a missing blob and `StoreUnavailableError` for one whose hash is wrong."""
        ...

    async def erase_job(self, workspace: WorkspaceId, job: JobId) -> int:
        """Remove everything under the job's prefix; returns how many."""
        ...

    def list(self, workspace: WorkspaceId, job: JobId | None = None) -> AsyncIterator[BlobInfo]:
        """Of one job, or of all; by key."""
        ...

    async def erase(self, key: BlobKey) -> None: ...

    async def close(self) -> None: ...
