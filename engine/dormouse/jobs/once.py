"""A repeated call is answered from the first one, inside the caller's transaction. Source: writes §1."""

from dormouse.errors import ConflictError, IdempotencyConflictError
from dormouse.ids import PrincipalId
from dormouse.model.receipt import IdempotencyKey
from dormouse.ports.catalog.transaction import CatalogTransaction


async def answered_before(
    tx: CatalogTransaction, principal: PrincipalId, key: IdempotencyKey | None
) -> str | None:
    """The id that a call under this key was answered with; None for a first call or one without a key.

    Raises `IdempotencyConflictError` when the key was used with another body, and `ConflictError` when what was
    written under it is forgotten.
    """
    known = await tx.jobs.idempotent(principal, key.route, key.key) if key else None
    if key is None or known is None:
        return None
    answer, body_sha256 = known
    if not body_sha256:
        raise forgotten_since()
    if body_sha256 != key.body_sha256:
        raise IdempotencyConflictError("this Idempotency-Key was used with another body")
    return answer


def forgotten_since() -> ConflictError:
    """A repeated call must not bring back what was forgotten after the first one."""
    return ConflictError(
        "what was written under this Idempotency-Key was forgotten since: send it again under another key, if "
        "it is to be remembered anew"
    )


async def note_answer(
    tx: CatalogTransaction, principal: PrincipalId, key: IdempotencyKey | None, answer: str
) -> None:
    """`answer` is the id of what was made: a job, a dataset or a session entry."""
    if key is not None:
        await tx.jobs.remember_key(principal, key.route, key.key, key.body_sha256, answer)
