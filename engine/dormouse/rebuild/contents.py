"""What an applied change brought into the stores, read again from its blobs.

Only documents whose erasure was applied are passed by: what is forgotten but not yet erased is still in every
store, and the erasure that waits expects it there. A change without a change set did nothing. Contents that
are lost are told from a store that is away for a moment by asking a few times.
"""

from collections import Counter
from dataclasses import dataclass

import structlog

from dormouse.codec.change_set import ChangeSet, decode_change_set
from dormouse.errors import NotFoundError, StoreUnavailableError
from dormouse.ids import BlobKey
from dormouse.model.change import Change
from dormouse.ports.blob_store import BlobStore

PATIENT_ATTEMPTS = 4  # at reading one blob; after that it counts as lost

log = structlog.get_logger()


class LostContentsError(Exception):
    """A blob is missing or damaged: what it held cannot be brought back."""


@dataclass(frozen=True, slots=True)
class Contents:
    change: Change
    change_set: ChangeSet


class ContentsReader:
    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._failed: Counter[BlobKey] = Counter()

    async def read(self, change: Change) -> Contents | None:
        """None for a change that did nothing. Raises `LostContentsError` and `StoreUnavailableError`."""
        if change.change_set is None:
            return None
        try:
            return Contents(change, decode_change_set(await self.blob(change.change_set)))
        except ValueError as exc:
            raise LostContentsError from exc

    async def blob(self, key: BlobKey) -> bytes:
        """Raises `LostContentsError` and, while trying again may still help, `StoreUnavailableError`."""
        try:
            found = await self._blobs.get(key)
        except NotFoundError as exc:
            raise LostContentsError from exc
        except StoreUnavailableError as exc:
            self._failed[key] += 1
            if self._failed[key] < PATIENT_ATTEMPTS:
                raise
            raise LostContentsError from exc
        self._failed.pop(key, None)
        return found
