"""A job: the receipt of a write, asked for at any time, always ending in one of three ways.

Source: writes §4.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from dormouse.ids import BlobKey, DatasetId, DocumentId, JobId, PrincipalId, WorkspaceId


class JobKind(StrEnum):
    REMEMBER = "remember"
    ADD = "add"  # durable and complete at once; nothing is extracted until a REMEMBER job takes it up
    FORGET_ITEM = "forget_item"
    FORGET_DATASET = "forget_dataset"
    FORGET_EVERYTHING = "forget_everything"
    FORGET_MEMORY = "forget_memory"  # of one item, which stays and waits to be taken up again
    SUPPRESS = "suppress"
    RESTORE = "restore"
    REBUILD = "rebuild"
    MIGRATE_EMBEDDING = "migrate_embedding"
    REPAIR = "repair"

    @property
    def is_forget(self) -> bool:
        return self in _FORGETS

    @property
    def is_extracted(self) -> bool:
        """Whether there is content to read first; the others are one change, accepted with the job."""
        return self is JobKind.REMEMBER


_FORGETS = frozenset(
    {JobKind.FORGET_ITEM, JobKind.FORGET_DATASET, JobKind.FORGET_EVERYTHING, JobKind.FORGET_MEMORY}
)


class Stage(StrEnum):
    """accepted → extracting → applying → searchable → enriching → complete, or failed, or cancelled."""

    ACCEPTED = "accepted"
    EXTRACTING = "extracting"
    APPLYING = "applying"
    SEARCHABLE = "searchable"
    ENRICHING = "enriching"
    COMPLETE = "complete"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self in _FINAL

    @property
    def is_searchable(self) -> bool:
        """Nothing more is needed before a recall finds it; enrichment does not count."""
        return self in _SEARCHABLE


_FINAL = frozenset({Stage.COMPLETE, Stage.FAILED, Stage.CANCELLED})
_SEARCHABLE = frozenset({Stage.SEARCHABLE, Stage.ENRICHING, Stage.COMPLETE})


class CancelReason(StrEnum):
    FORGOTTEN = "forgotten"
    SUPERSEDED = "superseded"
    BY_OWNER = "by_owner"
    WORKSPACE_DELETED = "workspace_deleted"


@dataclass(frozen=True, slots=True)
class JobCounts:
    """What a job did so far. `passages` is the plan's total once known, `done` those applied.

    From `windows` on, what a language model did: windows of passages planned, applied and copied from an older
    revision; memories `derived`; what it said and was not kept, by reason; and what it cost.
    """

    size_bytes: int = 0
    parts: int = 0
    parts_applied: int = 0
    passages: int = 0
    done: int = 0
    unchanged: int = 0
    facts: int = 0
    episodes: int = 0
    foresights: int = 0
    entities: int = 0
    erased: int = 0
    windows: int = 0
    windows_done: int = 0
    windows_copied: int = 0
    derived: int = 0
    repaired_quotes: int = 0
    dropped_no_quote: int = 0
    dropped_malformed: int = 0
    dropped_unknown_passage: int = 0
    dropped_repeated: int = 0
    dropped_too_many: int = 0
    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True)
class JobFailure:
    """`message` names what is wrong and what to do; never content, paths or another caller's ids."""

    code: str
    message: str
    retryable: bool
    stage: Stage


@dataclass(frozen=True, slots=True)
class Job:
    """`is_duplicate`: the content was already there, so the job was born complete and cost nothing.

    `parked_reason` and `next_attempt_ms` are set while trouble that passes holds it up. `enrichment_failure`
    says why a complete job lacks what a language model would have added.
    """

    id: JobId
    workspace: WorkspaceId
    principal: PrincipalId
    kind: JobKind
    dataset: DatasetId | None
    document: DocumentId | None
    revision: int
    stage: Stage
    accepted_ms: int
    updated_ms: int
    finished_ms: int | None = None
    searchable_ms: int | None = None
    counts: JobCounts = field(default_factory=JobCounts)
    failure: JobFailure | None = None
    cancel_reason: CancelReason | None = None
    is_duplicate: bool = False
    retry_of: JobId | None = None
    attempts: int = 0
    parked_reason: str | None = None
    next_attempt_ms: int | None = None
    enrichment_failure: JobFailure | None = None


@dataclass(frozen=True, slots=True)
class JobStep:
    job: JobId
    stage: Stage
    at_ms: int


@dataclass(frozen=True, slots=True)
class PartRow:
    """A part whose extraction is done and lies in `blob`; `index` counts from 0."""

    job: JobId
    index: int
    blob: BlobKey
    passages: int
