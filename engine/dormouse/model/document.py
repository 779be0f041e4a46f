"""A document: one item that was remembered, with its revisions."""

from dataclasses import dataclass, field
from enum import StrEnum

from dormouse.ids import BlobKey, DatasetId, DocumentId, JobId, PrincipalId, WorkspaceId

INLINE_LIMIT_BYTES = 16 * 1024  # larger content goes to a blob; writes §1
CONTENT_LIMIT_BYTES = 10 * 1024 * 1024  # decoded; the graph contract's limit


class ContentKind(StrEnum):
    """How the caller said the content is to be read; `FILE` is decided by name and bytes."""

    TEXT = "text"
    FILE = "file"
    CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Document:
    """`dataset_generation` is the dataset's at acceptance; the document is visible only while they agree, and
    not while it `is_suppressed`, which is read with it and never saved.

    `newest_revision` is the newest accepted, `searchable_revision` the newest applied (0: none yet). What was
    derived from revisions before `memory_from` is forgotten, though the document is not.
    """

    id: DocumentId
    workspace: WorkspaceId
    dataset: DatasetId
    owner: PrincipalId
    identity: str
    name: str
    external_id: str | None
    dataset_generation: int
    item_generation: int
    newest_revision: int
    searchable_revision: int
    created_ms: int
    updated_ms: int
    memory_from: int = 0
    is_suppressed: bool = False

    @property
    def has_no_memory(self) -> bool:
        """Its memory was forgotten, and nothing has become searchable since."""
        return self.searchable_revision < self.memory_from


@dataclass(frozen=True, slots=True)
class Shown:
    """What hydration asks of a live document: passages last seen before `memory_from` are forgotten."""

    updated_ms: int
    memory_from: int


@dataclass(frozen=True, slots=True)
class Revision:
    """One version of a document's content. Exactly one of `inline` and `blob` holds the bytes.

    `occurred_ms` is when the content says or the caller said it was written, with the caller's offset.
    `options` are what the caller said beside it, as in `Content`. `is_staged`: durable, and extracted only when
    a job takes it up.
    """

    document: DocumentId
    number: int
    job: JobId
    content_sha256: str
    kind: ContentKind
    filename: str
    size_bytes: int
    inline: bytes | None
    blob: BlobKey | None
    occurred_ms: int | None
    offset_minutes: int | None
    zone: str
    is_failed: bool
    created_ms: int
    options: dict[str, str] = field(default_factory=dict)
    is_staged: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """A document as it is listed. `newest` is its newest revision, failed or not, without its bytes."""

    document: Document
    newest: Revision


@dataclass(frozen=True, slots=True)
class Original:
    """The bytes that were handed over, and the name they came under."""

    name: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Content:
    """What a caller hands over to be remembered.

    `external_id` is the caller's own name for it, unique in the dataset; `zone` is the IANA zone in which
    naive times inside the content are read. `options`: `custom_prompt` steers a model's extraction,
    `self_improvement` "false" keeps session entries out of the graph, `ontology_keys` is a JSON list of keys,
    `label` is a name for people and `external_metadata` a JSON object of the caller's own; both stay with an
    item until they are given anew, or given empty. An item that is replaced keeps its kind, chat or not, unless
    the caller said one (`is_kind_said`).
    """

    body: bytes
    kind: ContentKind = ContentKind.TEXT
    filename: str = ""
    external_id: str | None = None
    occurred_ms: int | None = None
    offset_minutes: int | None = None
    zone: str = "UTC"
    options: dict[str, str] = field(default_factory=dict)
    is_kind_said: bool = True
