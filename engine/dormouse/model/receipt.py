"""What a write answers with, and how a caller makes a repeated call safe."""

from dataclasses import dataclass

from dormouse.model.dataset import Dataset
from dormouse.model.document import Document
from dormouse.model.job import Job


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """Unique over principal, `route` and `key` for 24 h; another `body_sha256` under it is a conflict."""

    route: str
    key: str
    body_sha256: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """`document` is None for forgets. A duplicate's job is already complete."""

    job: Job
    dataset: Dataset | None
    document: Document | None


@dataclass(frozen=True, slots=True)
class ForgetReceipt:
    """One job per dataset that had something to forget; empty when there was nothing.

    `session_entries` counts the caller's own; those of others that went with them are theirs to miss.
    """

    jobs: tuple[Job, ...]
    session_entries: int
