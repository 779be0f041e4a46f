"""What a change that erases removes, as a filter. Pure."""

from dormouse.codec.change_set import ChangeSet, TermDelta
from dormouse.model.change import Change, ChangeKind, Erasure
from dormouse.model.job import JobCounts
from dormouse.ports.graph_store import GraphRows


def erasure_of(change: Change) -> Erasure:
    """Raises `ValueError` for a change that does not erase."""
    if change.kind is ChangeKind.ERASE_DATASET:
        return Erasure(change.dataset, below_generation=change.generation)
    if change.kind is ChangeKind.ERASE_DOCUMENT:
        return Erasure(change.dataset, change.document)
    if change.kind is ChangeKind.ERASE_REVISION:
        return Erasure(change.dataset, change.document, first_revision=change.revision)
    if change.kind is ChangeKind.ERASE_MEMORY:
        return Erasure(change.dataset, change.document, last_revision_below=change.revision)
    raise ValueError("this change does not erase")


def plan(change: Change, erased: int, retired: TermDelta) -> ChangeSet:
    """Holds no content: a filter, how many passages it meets, and how the term statistics fall."""
    return ChangeSet(
        seq=change.seq,
        kind=change.kind,
        rows=GraphRows(),
        erasure=erasure_of(change),
        terms=TermDelta(change.dataset, change.generation),
        retired=retired,
        counts=JobCounts(erased=erased),
    )
