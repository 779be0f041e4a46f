"""Drafts against what is believed already: which versions are new, and which are believed no longer. Pure.

A claim belongs to its passage and its own words. Said again unchanged, it stands; with another interval,
quote or confidence, the old version's transaction time ends and a new version follows; no longer said by its
passage, it ends. Versions are never edited. No claim closes the interval of a claim in another passage here:
what later claims make of it is worked out when it is read (`recall/timeline.py`), so that forgetting one of
them leaves no trace in the other.
Source: contract-recall, "Time"; writes §6.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dormouse.apply.resolve import Resolution
from dormouse.ids import MemoryId, VersionId, derived_memory_id, memory_id, version_id
from dormouse.model.interval import END_MS, Interval
from dormouse.model.memory import Claim, Extraction, MemoryDraft, MemoryVersion
from dormouse.model.passage import Passage
from dormouse.text.folding import folded


@dataclass(frozen=True, slots=True)
class Reconciled:
    """`versions` are new; `closed` maps versions that stood before to when they stopped being believed."""

    versions: tuple[MemoryVersion, ...]
    closed: dict[str, int]


@dataclass(frozen=True, slots=True)
class Occasion:
    """`accepted_ms` and `revision` of the job: transaction time is acceptance, and a memory has at most one
    version per revision. `derived_by`: the model that drafted, empty for rules."""

    accepted_ms: int
    revision: int
    derived_by: str = ""


def reconcile(
    found: Sequence[tuple[Passage, Extraction]],
    believed: Sequence[MemoryVersion],
    resolution: Resolution,
    occasion: Occasion,
) -> Reconciled:
    """`believed` are the open versions of exactly these passages, as the graph holds them."""
    now_ms = _transaction_ms(believed, occasion)
    standing = {version.memory: version for version in believed}
    drafted = [
        _version(passage, draft, occurrence, resolution, Interval(now_ms, END_MS), occasion)
        for passage, extraction in found
        for draft, occurrence in _counted(extraction.memories)
    ]
    said = {version.memory for version in drafted}
    fresh = [version for version in drafted if not _stands(version, standing.get(version.memory))]
    ended = {version.memory for version in fresh} | (standing.keys() - said)
    return Reconciled(
        versions=tuple(fresh),
        closed={standing[memory].id: now_ms for memory in sorted(ended & standing.keys())},
    )


def _transaction_ms(believed: Sequence[MemoryVersion], occasion: Occasion) -> int:
    """Acceptance, but never before what it ends began: transaction time does not run backwards."""
    return max([occasion.accepted_ms, *(version.transaction.start_ms + 1 for version in believed)])


def _counted(drafts: Sequence[MemoryDraft]) -> list[tuple[MemoryDraft, int]]:
    """Each with how many equal claims came before it in its passage."""
    seen: Counter[tuple[str, str]] = Counter()
    counted = []
    for draft in drafts:
        key = (draft.kind.value, draft.content)
        counted.append((draft, seen[key]))
        seen[key] += 1
    return counted


def _version(
    passage: Passage,
    draft: MemoryDraft,
    occurrence: int,
    resolution: Resolution,
    transaction: Interval,
    occasion: Occasion,
) -> MemoryVersion:
    memory = _identity(passage, draft, occurrence, occasion)
    identity: VersionId = version_id(memory, occasion.revision)
    return MemoryVersion(
        id=identity,
        memory=memory,
        kind=draft.kind,
        dataset=passage.dataset,
        document=passage.document,
        passage=passage.id,
        dataset_generation=passage.dataset_generation,
        content=draft.content,
        quote=draft.quote,
        source=draft.source,
        confidence=draft.confidence,
        valid=draft.valid,
        valid_basis=draft.valid_basis,
        about=draft.about,
        precision=draft.precision,
        transaction=transaction,
        entities=resolution.of(draft.entity_names),
        claim=_claim(draft),
        derived_by=occasion.derived_by,
    )


def _identity(passage: Passage, draft: MemoryDraft, occurrence: int, occasion: Occasion) -> MemoryId:
    if occasion.derived_by:
        return derived_memory_id(passage.id, draft.kind.value, draft.content)
    return memory_id(passage.id, draft.kind.value, draft.content, occurrence)


def _claim(draft: MemoryDraft) -> Claim | None:
    """Under folded names, so that spellings of one subject meet."""
    said = draft.claim
    return Claim(folded(said.subject), said.predicate, folded(said.object)) if said else None


def _stands(version: MemoryVersion, older: MemoryVersion | None) -> bool:
    """Whether it says nothing that is not believed already."""
    if older is None:
        return False
    return replace(version, id=older.id, transaction=older.transaction) == older
