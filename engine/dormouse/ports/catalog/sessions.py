"""Catalog concern: session memory."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from dormouse.ids import DatasetId, DocumentId, PrincipalId
from dormouse.model.session import SessionEntry


class SessionBook(Protocol):
    """Session entries; every read is of one owner."""

    async def add(self, entry: SessionEntry) -> None: ...

    async def entries(self, owner: PrincipalId, session: str, limit: int) -> Sequence[SessionEntry]:
        """Unexpired ones, newest first; none that quotes a suppressed document."""
        ...

    async def touch(self, owner: PrincipalId, session: str, expires_ms: int) -> None:
        """Slide the expiry of the whole session."""
        ...

    async def erase(
        self,
        *,
        owner: PrincipalId | None = None,
        dataset: DatasetId | None = None,
        document: DocumentId | None = None,
    ) -> Mapping[PrincipalId, int]:
        """Entries of the owner, bound to the dataset, or quoting the document; exactly one is given.

        Returns how many there were of each owner: nobody is told of another's.
        """
        ...

    async def expire(self) -> int: ...

    async def sessions(self, owner: PrincipalId) -> Sequence[str]: ...
