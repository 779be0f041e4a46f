"""A change: one numbered step of a workspace's stores. Applied in order of `seq`, each exactly once.

Source: writes §2 and §3.
"""

from dataclasses import dataclass
from enum import StrEnum

from dormouse.ids import BlobKey, DatasetId, DocumentId, JobId, WorkspaceId


class ChangeKind(StrEnum):
    UPSERT = "upsert"
    ENRICH = "enrich"
    ERASE_DOCUMENT = "erase_document"
    ERASE_DATASET = "erase_dataset"
    ERASE_REVISION = "erase_revision"
    ERASE_MEMORY = "erase_memory"
    SUPPRESS = "suppress"
    RESTORE = "restore"
    REPAIR = "repair"

    @property
    def adds(self) -> bool:
        """Brings passages and memories of a job into the stores."""
        return self in _ADDING

    @property
    def is_erasure(self) -> bool:
        return self in _ERASURES

    @property
    def is_hiding(self) -> bool:
        """Hides a document or shows it again; which of the two is decided when it is applied."""
        return self in _HIDINGS


_ADDING = frozenset({ChangeKind.UPSERT, ChangeKind.ENRICH})
_ERASURES = frozenset(
    {ChangeKind.ERASE_DOCUMENT, ChangeKind.ERASE_DATASET, ChangeKind.ERASE_REVISION, ChangeKind.ERASE_MEMORY}
)
_HIDINGS = frozenset({ChangeKind.SUPPRESS, ChangeKind.RESTORE})


@dataclass(frozen=True, slots=True)
class Change:
    """`part` is -1 for changes that no part made, the window's index for ENRICH. `change_set` is named once,
    before any store is touched.

    For ERASE_DATASET, `generation` is the lowest that stays; for the others it is the dataset's generation
    at acceptance. ERASE_REVISION removes passages whose first revision is `revision` (a failed job's);
    ERASE_MEMORY those not seen since, and what else was derived from older revisions.
    """

    workspace: WorkspaceId
    seq: int
    job: JobId
    part: int
    kind: ChangeKind
    dataset: DatasetId
    document: DocumentId | None
    generation: int
    revision: int
    blob: BlobKey | None
    change_set: BlobKey | None
    attempts: int = 0
    is_last_part: bool = False


@dataclass(frozen=True, slots=True)
class Erasure:
    """What to remove from a store, as a filter; never a list of ids. Exactly one meaning:

    - `document` None: everything of the dataset in generations below `below_generation`;
    - `document` and nothing else: everything of that document;
    - `last_revision_below`: that document's passages not seen since (an update retires them,
      forgetting the memory alone erases them);
    - `first_revision`: that document's passages that first came with this revision.
    """

    dataset: DatasetId
    document: DocumentId | None = None
    below_generation: int | None = None
    last_revision_below: int | None = None
    first_revision: int | None = None


@dataclass(frozen=True, slots=True)
class ApplyLease:
    """`epoch` grows by one with every acquisition; times are the catalog's own clock."""

    workspace: WorkspaceId
    holder: str
    epoch: int
    expires_ms: int
    was_released: bool
