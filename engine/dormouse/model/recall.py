"""What a recall asks for and what it answers."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from dormouse.ids import DatasetId
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.model.session import SessionEntry

MAX_TOP_K = 100
DEFAULT_TOP_K = 15

Outcome = Literal["found", "none", "indexing", "build_failed"]


class RecallMode(StrEnum):
    """AUTO fuses every signal; LEXICAL is BM25 alone; CHUNKS returns passages; ANSWER adds an answer."""

    AUTO = "auto"
    LEXICAL = "lexical"
    CHUNKS = "chunks"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """`datasets` None: everything readable. `session` searches session entries first, then the graph only
    if nothing was found there or `datasets` was given too. `sources` narrows to one of the two lanes."""

    query: str
    mode: RecallMode = RecallMode.AUTO
    datasets: frozenset[DatasetId] | None = None
    session: str | None = None
    sources: frozenset[Literal["graph", "session"]] | None = None
    top_k: int = DEFAULT_TOP_K
    instruction: str = ""
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers. Scores of one recall compare with each other only; higher is better.

    `is_pending`: durable but not yet searchable, read from the catalog (one's own fresh write).
    `through`: the memories by whose words it was found, best first.
    `remembered_ms`: when its document last changed here, which says how old an undated memory is.
    """

    passage: Passage
    dataset_name: str
    score: float
    memories: tuple[MemoryVersion, ...] = ()
    through: tuple[MemoryVersion, ...] = ()
    is_pending: bool = False
    remembered_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SessionHit:
    entry: SessionEntry
    score: float


@dataclass(frozen=True, slots=True)
class RecallResult:
    """Session hits come first. `completed` and `total` are set while indexing, when known.

    `degraded` names what did not answer ("vector", "graph", "answer"), empty when the search was whole.
    `answer` is set in ANSWER mode only; `answer_model` names what made it, and `answer_sources` are the
    positions of the hits it rests on, counted from 0: the number in its marks less one.
    """

    outcome: Outcome
    hits: tuple[Hit, ...] = ()
    session_hits: tuple[SessionHit, ...] = ()
    completed: int | None = None
    total: int | None = None
    degraded: tuple[str, ...] = ()
    answer: str | None = None
    answer_model: str | None = None
    answer_sources: tuple[int, ...] = ()
