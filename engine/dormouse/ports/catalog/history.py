"""Catalog concern: applied changes as a history to follow, and the stores that follow it. Source: writes §7."""

from collections.abc import Collection, Sequence
from typing import Protocol

from dormouse.ids import BlobKey, DocumentId, WorkspaceId
from dormouse.model.change import ApplyLease, Change
from dormouse.model.job import PartRow
from dormouse.model.rebuild import DerivedStore, Rebuild


class ChangeHistory(Protocol):
    """What was applied, in order, and how far each store that is made anew has followed it."""

    async def applied_after(self, workspace: WorkspaceId, seq: int, limit: int) -> Sequence[Change]:
        """Applied changes by `seq`; those that did something or were dropped alike."""
        ...

    async def unerased(self, documents: Collection[DocumentId]) -> frozenset[DocumentId]:
        """Those whose erasure, if they are forgotten, was not applied yet: the stores hold them still."""
        ...

    async def volume(self, workspace: WorkspaceId) -> int:
        """About how many passages following everything means: those of all parts that are not forgotten."""
        ...

    async def rebuilds(self, workspace: WorkspaceId) -> Sequence[Rebuild]:
        """Those under way, the graph's first."""
        ...

    async def begin(self, rebuild: Rebuild) -> None:
        """Note it, or start the same store's over."""
        ...

    async def advance(self, lease: ApplyLease, rebuild: Rebuild) -> bool:
        """Note how far it came, with the epoch asserted; False if it was dropped meanwhile."""
        ...

    async def end(self, workspace: WorkspaceId, store: DerivedStore) -> None: ...

    async def vectors_of(self, part: BlobKey, model: str) -> BlobKey | None:
        """The blob with the part's vectors by this model, if it is not the part's own and was made."""
        ...

    async def keep_vectors(self, part: PartRow, model: str, blob: BlobKey) -> None:
        """Note where the part's vectors by this model lie; they go when the part goes."""
        ...
