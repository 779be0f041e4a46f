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


# Predicates of which a subject has one object at a time: a later claim ends an earlier one. Any other holds
# beside what was claimed before, for "likes tea" does not end "likes coffee".
FUNCTIONAL_PREDICATES = frozenset(
    """lives_in located_in works_for job_title studies_at married_to partner_of owned_by led_by reports_to
    status version price deadline email phone address time_zone""".split()
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A fact as subject, predicate and object; the names folded, so that spellings meet."""

    subject: str
    predicate: str
    object: str

    @property
    def is_functional(self) -> bool:
        return self.predicate in FUNCTIONAL_PREDICATES


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """`valid`: facts, true within; foresights, from expressed until resolved. `about`: an episode's event
    time or a foresight's window. `quote` is the exact words of the passage it rests on.

    `valid` is what this claim itself says; what later claims make of it is worked out when it is read.
    `derived_by` names the model and prompt that derived it, empty for what was found by rules.
    """

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
    claim: Claim | None = None
    derived_by: str = ""


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
    claim: Claim | None = None


@dataclass(frozen=True, slots=True)
class EntityDraft:
    name: str
    kind: str = "thing"


@dataclass(frozen=True, slots=True)
class RelationDraft:
    """Between two entities of the same extraction, by their names."""

    source: str
    name: str
    target: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything found in one passage."""

    passage: PassageId
    memories: tuple[MemoryDraft, ...] = ()
    entities: tuple[EntityDraft, ...] = ()
    relations: tuple[RelationDraft, ...] = ()
