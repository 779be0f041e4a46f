"""Session memory: short-lived entries of one user, found before the graph when a session is named.

Source: contract-graph, "recall".
"""

from dataclasses import dataclass

from dormouse.ids import DatasetId, DocumentId, PrincipalId, SessionEntryId

TTL_MS = 7 * 24 * 3600 * 1000  # sliding: every use of the session starts it anew


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
