"""The chunk plan: how a revision's text was cut, stored before anything is computed from it.

A successor that takes a job over works from the plan, so that every part belongs to the same cut.
"""

from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter

from dormouse.codec.frame import pack, unpack
from dormouse.ids import DocumentId
from dormouse.model.passage import MAX_PASSAGES_PER_PART, Passage

_TAG = b"DMP1"


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """`title` is the document's own, empty if it has none."""

    document: DocumentId
    revision: int
    title: str
    passages: tuple[Passage, ...]

    @property
    def parts(self) -> int:
        return -(-len(self.passages) // MAX_PASSAGES_PER_PART)

    def part(self, index: int) -> tuple[Passage, ...]:
        start = index * MAX_PASSAGES_PER_PART
        return self.passages[start : start + MAX_PASSAGES_PER_PART]


def encode_plan(plan: ChunkPlan) -> bytes:
    return pack(_TAG, _adapter().dump_json(plan))


def decode_plan(blob: bytes) -> ChunkPlan:
    header, _ = unpack(_TAG, blob)
    return _adapter().validate_json(header)


@cache
def _adapter() -> TypeAdapter[ChunkPlan]:
    return TypeAdapter(ChunkPlan)
