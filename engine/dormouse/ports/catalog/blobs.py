"""Catalog concern: which blobs its rows name, whatever they are for."""

from collections.abc import Collection
from typing import Protocol

from dormouse.ids import BlobKey


class BlobNames(Protocol):
    async def named(self, blobs: Collection[BlobKey]) -> frozenset[BlobKey]:
        """Those that some row names: the others may be deleted once they are old enough."""
        ...
