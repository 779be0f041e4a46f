"""Session memory: short-lived entries of one user, found before the graph when a session is named.

Source: contract-graph, "recall".
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from dormouse.ids import DatasetId, DocumentId, PrincipalId, SessionEntryId

TTL_MS = 7 * 24 * 3600 * 1000  # sliding: every use of the session starts it anew


class EntryKind(StrEnum):
    """A note is what somebody said, an exchange a question with its answer, a trace what a tool did.

    Traces are kept with their session and not searched.
    """

    NOTE = "note"
    EXCHANGE = "exchange"
    TRACE = "trace"


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """`text` is what a search finds, `details` the parts it was made of, as JSON."""

    text: str
    kind: EntryKind = EntryKind.NOTE
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """`quotes` are the documents whose text the entry repeats: forgetting one of them erases the entry."""

    id: SessionEntryId
    owner: PrincipalId
    session: str
    dataset: DatasetId | None
    text: str
    quotes: tuple[DocumentId, ...]
    created_ms: int
    expires_ms: int
    kind: EntryKind = EntryKind.NOTE
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """`dataset` is one that its entries are bound to, if any; `used_ms` is its last use, searches included."""

    name: str
    dataset: DatasetId | None
    started_ms: int
    used_ms: int
    exchanges: int
    traces: int


@dataclass(frozen=True, slots=True)
class SessionPage:
    """`total` counts all sessions of the owner, not only those of this page."""

    sessions: tuple[SessionSummary, ...]
    total: int
