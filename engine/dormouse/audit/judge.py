"""One document's truth against what graph and vectors hold of it. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from dormouse.audit.truth import Truth
from dormouse.ids import DatasetId, DocumentId, MemoryId, PassageId
from dormouse.model.audit import MOST_EXAMPLES, Drift, Finding
from dormouse.model.passage import Passage
from dormouse.ports.vector_upkeep import PointMark


@dataclass(frozen=True, slots=True)
class Held:
    """Of one document, hidden or not; `memories` also those believed no longer. `spoken_of` are passages of
    which a model derived any."""

    passages: Mapping[PassageId, Passage]
    memories: Collection[MemoryId]
    marks: Mapping[PassageId, PointMark]
    spoken_of: Collection[PassageId] = frozenset()


def judge(truth: Truth, held: Held) -> list[Finding]:
    """By kind, at most one finding each; empty when all agree.

    Where a part cannot be read, what it said is unknown, so nothing is called too much.
    """
    found: dict[Drift, Iterable[str]] = {
        Drift.PASSAGE_MISSING: truth.passages.keys() - held.passages.keys(),
        Drift.PASSAGE_CHANGED: _changed(truth, held),
        Drift.POINT_MISSING: truth.passages.keys() - held.marks.keys(),
        Drift.POINT_CHANGED: [id_ for id_, mark in held.marks.items() if not _is_placed(mark, held)],
        Drift.BLOB_MISSING: truth.missing,
        Drift.BLOB_DAMAGED: truth.damaged,
    }
    misplaced = Drift.POINT_SHOWN if truth.hiding.is_applied else Drift.POINT_HIDDEN
    found[misplaced] = [id_ for id_, mark in held.marks.items() if mark.is_hidden != truth.hiding.is_applied]
    if not found[Drift.PASSAGE_MISSING]:
        found[Drift.MEMORY_MISSING] = _demanded(truth, held).difference(held.memories)
    if truth.is_whole:
        found[Drift.PASSAGE_UNKNOWN] = held.passages.keys() - truth.passages.keys()
        found[Drift.POINT_UNKNOWN] = held.marks.keys() - truth.passages.keys()
    document = truth.document
    return [finding(drift, ids, (document.dataset, document.id)) for drift, ids in found.items() if list(ids)]


def finding(drift: Drift, ids: Iterable[str], place: tuple[DatasetId, DocumentId | None]) -> Finding:
    ordered = sorted(ids)
    return Finding(drift, len(ordered), *place, tuple(ordered[:MOST_EXAMPLES]))


def _demanded(truth: Truth, held: Held) -> set[MemoryId]:
    """Where a model spoke, rules are heard no more: what a later version of them finds there is not written."""
    by_rules = {memory for memory, passage in truth.memories.items() if passage not in held.spoken_of}
    return by_rules | truth.derived


def _changed(truth: Truth, held: Held) -> list[PassageId]:
    """By which revisions it came is decided when it is applied, so its part cannot tell."""
    both = truth.passages.keys() & held.passages.keys()
    return [id_ for id_ in both if not _is_same(truth.passages[id_], held.passages[id_])]


def _is_same(expected: Passage, stored: Passage) -> bool:
    placed = replace(expected, first_revision=stored.first_revision, last_revision=stored.last_revision)
    return placed == stored


def _is_placed(mark: PointMark, held: Held) -> bool:
    """A point without a passage is another kind of finding."""
    passage = held.passages.get(mark.passage)
    if passage is None:
        return True
    return (mark.dataset_generation, mark.first_revision, mark.last_revision) == (
        passage.dataset_generation,
        passage.first_revision,
        passage.last_revision,
    )
