"""A change set: what applying a change will do, decided once and named before any store is touched.

Whoever repeats the change does exactly this again. It holds absolute rows; vectors stay in the part blob.
The change set of an erasure holds no text. Source: writes §3 and §7.
"""

from dataclasses import dataclass, field
from functools import cache

from pydantic import TypeAdapter

from dormouse.codec.frame import pack, unpack
from dormouse.ids import DatasetId, TermId
from dormouse.model.change import ChangeKind, Erasure
from dormouse.model.job import JobCounts
from dormouse.ports.graph_store import GraphRows

_TAG = b"DMC1"


@dataclass(frozen=True, slots=True)
class TermDelta:
    """How the dataset's term statistics of this generation move; may be negative."""

    dataset: DatasetId
    generation: int
    passages: int = 0
    terms: dict[TermId, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """`erasure` of an upsert is what its last part retires, and `retired` how the statistics fall by that.

    `counts` is added to the job's, and `terms` only together with it: a job's parts tell what was counted.
    `is_hidden`: the document was suppressed, so the rows are written hidden and no terms are counted.
    `hides` of a suppression or restoration: hide what `erasure` means (True), show it again (False), or
    (None) nothing, for the stores say already what was accepted last.
    """

    seq: int
    kind: ChangeKind
    rows: GraphRows
    erasure: Erasure | None
    terms: TermDelta
    retired: TermDelta
    counts: JobCounts
    is_hidden: bool = False
    hides: bool | None = None


def encode_change_set(change_set: ChangeSet) -> bytes:
    return pack(_TAG, _adapter().dump_json(change_set))


def decode_change_set(blob: bytes) -> ChangeSet:
    header, _ = unpack(_TAG, blob)
    return _adapter().validate_json(header)


@cache
def _adapter() -> TypeAdapter[ChangeSet]:
    return TypeAdapter(ChangeSet)
