"""Catalog concern: which ontologies users uploaded."""

from collections.abc import Collection, Sequence
from typing import Protocol

from dormouse.ids import BlobKey, PrincipalId
from dormouse.model.ontology import OntologyRow


class OntologyRegister(Protocol):
    async def add(self, row: OntologyRow) -> bool:
        """False, and nothing is changed, when its owner has one under this key."""
        ...

    async def owned_by(self, owner: PrincipalId) -> Sequence[OntologyRow]:
        """By key."""
        ...

    async def remove(self, owner: PrincipalId, key: str) -> OntologyRow | None:
        """The row that was there."""
        ...

    async def named_blobs(self, blobs: Collection[BlobKey]) -> frozenset[BlobKey]:
        """Those of `blobs` that a row names."""
        ...
