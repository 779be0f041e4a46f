"""A passage: the smallest thing that is indexed and found; a chat turn or a chunk of about 110–150 words."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from dormouse.ids import DatasetId, DocumentId, PassageId, TermId, WorkspaceId

WINDOW_BEFORE = 2  # a passage's window is itself and the two before it in the same session
TOKEN_VECTOR_BYTES = 48  # 384 signs
MAX_PASSAGES_PER_PART = 64  # about a second of embedding, after which a short job may pass a long one


class PassageKind(StrEnum):
    """DERIVED is what a language model made of another passage, which `previous` names: it is found by, never
    shown or counted for itself, and its id is that of the memory it words."""

    TURN = "turn"
    CHUNK = "chunk"
    DERIVED = "derived"


class Precision(StrEnum):
    """How exactly a time is known; a day stands for the half-open interval it covers."""

    INSTANT = "instant"
    DAY = "day"
    MONTH = "month"
    YEAR = "year"
    FUZZY = "fuzzy"


@dataclass(frozen=True, slots=True)
class Passage:
    """`text` is what a reader sees, `heading` what stands over it; `indexed_text` joins them for search.

    `order` counts passages inside the document from 0, `session` groups those that follow each other.
    `previous` are the ids of up to two passages before it in the same session, nearest first.
    `speaker` is as written; `role` is user, assistant, system, tool or empty.
    """

    id: PassageId
    workspace: WorkspaceId
    dataset: DatasetId
    document: DocumentId
    dataset_generation: int
    first_revision: int
    last_revision: int
    kind: PassageKind
    order: int
    session: str
    text: str
    heading: str
    previous: tuple[PassageId, ...]
    speaker: str = ""
    role: str = ""
    language: str = ""
    occurred_ms: int | None = None
    offset_minutes: int | None = None
    precision: Precision | None = None
    external_id: str | None = None
    document_name: str = ""

    @property
    def indexed_text(self) -> str:
        return f"{self.heading}: {self.text}" if self.heading else self.text


@dataclass(frozen=True, slots=True)
class PassageVectors:
    """What search needs of one passage, computed once by its part.

    `terms` and `window_terms` are BM25 document weights by term id (saturation and length already in, no
    document frequency); `window_terms` is empty for chunks. `dense` has the model's dimension, float16 and
    unit length. `tokens` is n × 48 bytes: the signs of the pooled token vectors, most significant bit first.
    """

    terms: dict[TermId, float]
    window_terms: dict[TermId, float]
    dense: NDArray[np.float16]
    tokens: bytes


@dataclass(frozen=True, slots=True)
class Point:
    """One row of the vector store: never any text, so nothing readable is left in its segments.

    No search finds a hidden one.
    """

    passage: PassageId
    dataset: DatasetId
    document: DocumentId
    dataset_generation: int
    first_revision: int
    last_revision: int
    kind: PassageKind
    session: str
    order: int
    speaker: str
    role: str
    language: str
    occurred_ms: int | None
    previous: tuple[PassageId, ...]
    vectors: PassageVectors
    is_hidden: bool = False

    @classmethod
    def of(cls, passage: Passage, vectors: PassageVectors, *, is_hidden: bool = False) -> "Point":
        return cls(
            passage=passage.id,
            dataset=passage.dataset,
            document=passage.document,
            dataset_generation=passage.dataset_generation,
            first_revision=passage.first_revision,
            last_revision=passage.last_revision,
            kind=passage.kind,
            session=passage.session,
            order=passage.order,
            speaker=passage.speaker,
            role=passage.role,
            language=passage.language,
            occurred_ms=passage.occurred_ms,
            previous=passage.previous,
            vectors=vectors,
            is_hidden=is_hidden,
        )


@dataclass(frozen=True, slots=True)
class Nominee:
    """A point that an arm of the search named, with that arm's own score."""

    passage: PassageId
    score: float
