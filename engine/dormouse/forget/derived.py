"""Erasing what was derived from an item that stays: every blob beside its older jobs but the texts themselves.

The rows are the only list of the blobs, so they go last; all of it may be repeated. Source: writes §5.
"""

from dormouse.forget.verify import ResidueError
from dormouse.ids import BlobKey
from dormouse.model.change import ApplyLease, Change
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.documents import Derived
from dormouse.ports.catalog.transaction import Catalog


class DerivedEraser:
    def __init__(self, catalog: Catalog, blobs: BlobStore) -> None:
        self._catalog = catalog
        self._blobs = blobs

    async def erase(self, lease: ApplyLease, change: Change) -> None:
        """Raises `LeaseLostError`, `UnavailableError` and `ResidueError`."""
        assert change.document is not None
        async with self._catalog.transaction() as tx:  # never committed: it only tells what would go
            derived = await tx.revisions.erase_derived(change.document, change.revision)
        for blob in await self._blobs_of(change, derived):
            await self._blobs.erase(blob)
        if await self._blobs_of(change, derived):
            raise ResidueError("blob")
        async with self._catalog.transaction() as tx:
            await tx.workspaces.assert_lease(lease)
            await tx.revisions.erase_derived(change.document, change.revision)
            await tx.commit()

    async def _blobs_of(self, change: Change, derived: Derived) -> list[BlobKey]:
        found = [blob.key for job in derived.jobs async for blob in self._blobs.list(change.workspace, job)]
        return [key for key in found if key not in derived.originals]
