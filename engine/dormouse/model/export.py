"""Everything that is remembered, as rows in one canonical order: what an export holds and a comparison reads.

Source: writes §7.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class RowKind(StrEnum):
    DATASET = "dataset"
    DOCUMENT = "document"
    PASSAGE = "passage"
    MEMORY = "memory"
    ENTITY = "entity"
    MENTION = "mention"
    RELATION = "relation"
    TERMS = "terms"
    TERM = "term"


class RowKey(NamedTuple):
    """Rows of every export stand in the order of their keys: a dataset's documents, each with its passages in
    reading order and its memories; then entities, mentions, relations and term counts."""

    dataset: str
    section: int
    owner: str
    rank: int
    order: int
    id: str


@dataclass(frozen=True, slots=True)
class ExportRow:
    """`body` holds what JSON can; times are UTC milliseconds, intervals `[from, until]` with null for open."""

    kind: RowKind
    key: RowKey
    body: Mapping[str, object]
