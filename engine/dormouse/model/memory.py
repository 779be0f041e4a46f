"""Memories in time: facts, episodes and foresights as immutable versions.

Three clocks: valid time (true in the world), event or window time (what it is about), transaction time
(when the store believed it). A change closes `transaction` and appends a version, never edits one.
Source: contract-recall, "Time".
"""

from dataclasses import dataclass
from enum import StrEnum

from dormouse.ids import DatasetId, DocumentId, EntityId, MemoryId, PassageId, VersionId
from dormouse.model.interval import Interval
from dormouse.model.passage import Precision


class MemoryKind(StrEnum):
    FACT = "fact"
    EPISODE = "episode"
    FORESIGHT = "foresight"


class SourceKind(StrEnum):
    STATED = "stated"
    INFERRED = "inferred"
    DOCUMENT = "document"
    SYSTEM = "system"
    USER_EDIT = "user_edit"


class Basis(StrEnum):
    """Where the start of the valid interval comes from: said in the text, or merely when it was said."""

    STATED = "stated"
    ASSERTED = "asserted"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """`valid`: facts, true within; foresights, from expressed until resolved. `about`: an episode's event
    time or a foresight's window. `quote` is the exact words of the passage it rests on."""

    id: VersionId
    memory: MemoryId
    kind: MemoryKind
    dataset: DatasetId
    document: DocumentId
    passage: PassageId
    dataset_generation: int
    content: str
    quote: str
    source: SourceKind
    confidence: float
    valid: Interval
    valid_basis: Basis
    about: Interval | None
    precision: Precision | None
    transaction: Interval
    entities: tuple[EntityId, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """What an extractor found in a passage, before identity and transaction time are given.

    `entity_names` are spellings as written in the passage.
    """

    kind: MemoryKind
    content: str
    quote: str
    source: SourceKind
    confidence: float
    valid: Interval
    valid_basis: Basis
    about: Interval | None = None
    precision: Precision | None = None
    entity_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityDraft:
    name: str
    kind: str = "thing"


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything found in one passage."""

    passage: PassageId
    memories: tuple[MemoryDraft, ...] = ()
    entities: tuple[EntityDraft, ...] = ()
