"""Catalog concern: session memory."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from dormouse.ids import DatasetId, DocumentId, PrincipalId, SessionEntryId
from dormouse.model.session import SessionEntry, SessionPage, SessionSummary


class SessionBook(Protocol):
    """Session entries; every read is of one owner."""

    async def add(self, entry: SessionEntry) -> None: ...

    async def entry(self, owner: PrincipalId, session: str, entry: SessionEntryId) -> SessionEntry | None:
        """None if there is no such unexpired entry."""
        ...

    async def entries(
        self, owner: PrincipalId, session: str, limit: int, *, before: tuple[int, SessionEntryId] | None = None
    ) -> Sequence[SessionEntry]:
        """Unexpired ones that quote nothing suppressed, newest first.

        `before` is the (created_ms, id) of the last one seen.
        """
        ...

    async def describe(self, entry: SessionEntryId, details: dict[str, Any]) -> None:
        """Replace an entry's details."""
        ...

    async def touch(self, owner: PrincipalId, session: str, expires_ms: int) -> None:
        """Slide the expiry of the whole session."""
        ...

    async def erase(
        self,
        *,
        owner: PrincipalId | None = None,
        session: str | None = None,
        dataset: DatasetId | None = None,
        document: DocumentId | None = None,
    ) -> Mapping[PrincipalId, int]:
        """Entries of the owner (of one `session` only), bound to the dataset, or quoting the document.

        Exactly one of the three is given. What repeated calls would be answered with goes too.
        Returns how many there were of each owner: nobody is told of another's.
        """
        ...

    async def expire(self) -> int: ...

    async def sessions(
        self, owner: PrincipalId, *, after: tuple[int, str] | None = None, limit: int = 50
    ) -> SessionPage:
        """Last used first; `after` is the (used_ms, name) of the last one seen."""
        ...

    async def session(self, owner: PrincipalId, name: str) -> SessionSummary | None: ...
