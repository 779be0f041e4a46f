"""A session entry is stored at once and searchable at once; it lives for seven days after its last use."""

from dormouse.errors import InvalidInputError
from dormouse.ids import DatasetId, DocumentId, new_session_entry_id
from dormouse.model.scope import Scope
from dormouse.model.session import TTL_MS, EntryDraft, SessionEntry
from dormouse.ports.catalog.transaction import CatalogTransaction
from dormouse.text.naming import RULE, is_nameable

MAX_SESSION_CHARACTERS = 200


def check_session(session: str) -> None:
    """Raises `InvalidInputError` naming the rule."""
    if not session.strip():
        raise InvalidInputError("session_id must not be blank", field="session_id")
    if len(session) > MAX_SESSION_CHARACTERS:
        raise InvalidInputError(
            f"session_id may have at most {MAX_SESSION_CHARACTERS} characters", field="session_id"
        )
    if not is_nameable(session):
        raise InvalidInputError(f"session_id {RULE}", field="session_id")


async def record(
    tx: CatalogTransaction,
    scope: Scope,
    session: str,
    draft: EntryDraft,
    *,
    dataset: DatasetId | None,
    quotes: tuple[DocumentId, ...],
) -> SessionEntry:
    """Add an entry and slide the whole session's expiry; the caller commits."""
    expires_ms = tx.now_ms + TTL_MS
    entry = SessionEntry(
        id=new_session_entry_id(),
        owner=scope.principal,
        session=session,
        dataset=dataset,
        text=draft.text,
        quotes=quotes,
        created_ms=tx.now_ms,
        expires_ms=expires_ms,
        kind=draft.kind,
        details=draft.details,
    )
    await tx.sessions.add(entry)
    await tx.sessions.touch(scope.principal, session, expires_ms)
    return entry
