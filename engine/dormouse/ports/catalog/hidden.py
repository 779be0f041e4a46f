"""Catalog concern: what is suppressed. Source: writes §5."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from dormouse.ids import DatasetId, DocumentId, WorkspaceId


@dataclass(frozen=True, slots=True)
class Hiding:
    """`is_active`: hidden from every reader, as accepted last. `is_applied`: the stores and the term counts say
    so too; only changes move it, in their order. Where the two agree on no, there is no row."""

    is_active: bool = False
    is_applied: bool = False


class HiddenBook(Protocol):
    """Documents that are suppressed, or on their way to or from it."""

    async def hide(self, workspace: WorkspaceId, dataset: DatasetId, document: DocumentId) -> bool:
        """From this commit on no reader sees it; False if none did before."""
        ...

    async def show(self, document: DocumentId) -> bool:
        """From this commit on readers see it as far as the stores show it; False if it was not hidden."""
        ...

    async def of(self, document: DocumentId) -> Hiding: ...

    async def many(self, documents: Collection[DocumentId]) -> Mapping[DocumentId, Hiding]:
        """Those of `documents` that have a row."""
        ...

    async def settle(self, document: DocumentId, *, is_applied: bool) -> None:
        """What the stores say from this commit on; nothing happens for one that was forgotten meanwhile."""
        ...
