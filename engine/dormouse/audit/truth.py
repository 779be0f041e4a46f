"""What the stores must hold of one document, read from the catalog and the part blobs: they are the truth."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dormouse.codec.part import Part, decode_part
from dormouse.errors import NotFoundError, StoreUnavailableError
from dormouse.ids import BlobKey, JobId, MemoryId, PassageId, memory_id
from dormouse.model.change import Change, ChangeKind
from dormouse.model.document import Document
from dormouse.model.memory import MemoryDraft
from dormouse.model.passage import Passage, PassageKind, PassageVectors
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.hidden import Hiding
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction


@dataclass(slots=True)
class Truth:
    """`is_whole` only if every part could be read: else more may be there than is known.

    `memories` are those that rules found, each with its passage, and `derived` those that a model made.
    """

    document: Document
    hiding: Hiding
    passages: dict[PassageId, Passage] = field(default_factory=dict)
    vectors: dict[PassageId, PassageVectors] = field(default_factory=dict)
    memories: dict[MemoryId, PassageId] = field(default_factory=dict)
    derived: set[MemoryId] = field(default_factory=set)
    missing: list[BlobKey] = field(default_factory=list)
    damaged: list[BlobKey] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        return not self.missing and not self.damaged


@dataclass(frozen=True, slots=True)
class _Named:
    """`parts`, then `windows` of derived memories, were applied; `others` are plans, texts and change sets."""

    parts: tuple[BlobKey, ...]
    windows: tuple[BlobKey, ...]
    others: tuple[BlobKey, ...]


class TruthReader:
    def __init__(self, catalog: Catalog, blobs: BlobStore) -> None:
        self._catalog = catalog
        self._blobs = blobs

    async def of(self, document: Document, *, is_thorough: bool = False) -> Truth:
        """`is_thorough`: read what else the document names too, to find what is lost."""
        async with self._catalog.reading() as tx:
            truth = Truth(document, await tx.hidden.of(document.id))
            named = await _named(tx, document)
        for blob in named.parts:
            content = await self._read(truth, blob)
            if content is not None:
                _add(truth, decode_part(content))
        for blob in named.windows:
            content = await self._read(truth, blob)
            if content is not None:
                _add_derived(truth, decode_part(content))
        lost = len(truth.missing) + len(truth.damaged)
        if is_thorough and not lost:
            for blob in named.others:
                await self._read(truth, blob)
        return truth

    async def _read(self, truth: Truth, blob: BlobKey) -> bytes | None:
        try:
            return await self._blobs.get(blob)
        except NotFoundError:
            truth.missing.append(blob)
        except StoreUnavailableError:
            truth.damaged.append(blob)
        return None


async def _named(tx: CatalogTransaction, document: Document) -> _Named:
    """Of the searchable revision, then of one that is on its way behind it."""
    parts: list[BlobKey] = []
    windows: list[BlobKey] = []
    others: list[BlobKey] = []
    changes = await tx.past.applied_to(document.id)
    for number in dict.fromkeys((document.searchable_revision, document.newest_revision)):
        revision = await tx.revisions.get(document.id, number) if number else None
        if revision is None:
            continue
        others += [revision.blob] if revision.blob else []
        plan = await tx.work.plan(revision.job)
        others += [plan] if plan else []
        if not revision.is_failed:
            parts += await _applied_parts(tx, revision.job)
            windows += _windows(changes, revision.job)
    again = await _embedded_again(tx, document, [*parts, *windows])
    others += again
    others += [change.change_set for change in changes if change.change_set]
    return _Named(
        tuple(again.get(each, each) for each in parts),
        tuple(again.get(each, each) for each in windows),
        tuple(dict.fromkeys(others)),
    )


def _windows(changes: Sequence[Change], job: JobId) -> list[BlobKey]:
    """What was derived from one revision; an update takes what was derived from the one before out."""
    found = [each for each in changes if each.kind is ChangeKind.ENRICH and each.job == job]
    return [each.blob for each in found if each.blob]


async def _embedded_again(
    tx: CatalogTransaction, document: Document, blobs: Sequence[BlobKey]
) -> dict[BlobKey, BlobKey]:
    """Of those that were embedded since with the model that is in use: what was extracted, to what is used."""
    collection = (await tx.workspaces.get(document.workspace)).collection
    if collection is None:
        return {}
    found = {each: await tx.history.vectors_of(each, collection.model) for each in blobs}
    return {each: again for each, again in found.items() if again}


async def _applied_parts(tx: CatalogTransaction, job: JobId) -> list[BlobKey]:
    applied = (await tx.jobs.get(job)).counts.parts_applied
    return [part.blob for part in await tx.work.parts(job) if part.index < applied]


def _add(truth: Truth, part: Part) -> None:
    for passage, extraction, vectors in zip(part.passages, part.extractions, part.vectors, strict=True):
        truth.passages[passage.id] = passage
        truth.vectors[passage.id] = vectors
        truth.memories |= dict.fromkeys(_memories(passage.id, extraction.memories), passage.id)


def _add_derived(truth: Truth, part: Part) -> None:
    """A memory that a model derived and the passage that words it have one id."""
    for passage, vectors in zip(part.passages, part.vectors, strict=True):
        truth.passages[passage.id] = passage
        truth.vectors[passage.id] = vectors
        truth.derived.add(MemoryId(passage.id))


def _memories(passage: PassageId, drafts: tuple[MemoryDraft, ...]) -> set[MemoryId]:
    """Named as applying them names them: by the passage, their words, and how often they came before."""
    seen: Counter[tuple[str, str]] = Counter()
    found = set()
    for draft in drafts:
        claim = (draft.kind.value, draft.content)
        found.add(memory_id(passage, *claim, seen[claim]))
        seen[claim] += 1
    return found


def terms_of(truth: Truth) -> Counter[int]:
    """How many passages hold each term, as the statistics count them: none of what is hidden or derived."""
    return Counter(int(term) for id_ in _counted(truth) for term in truth.vectors[id_].terms)


def counted_in(truth: Truth) -> int:
    return len(_counted(truth))


def _counted(truth: Truth) -> list[PassageId]:
    if truth.hiding.is_applied:
        return []
    return [each.id for each in truth.passages.values() if each.kind is not PassageKind.DERIVED]


def lacking(expected: Mapping[int, int], stored: Mapping[int, int]) -> dict[int, int]:
    """What to add to the stored counts, term by term, to have the expected ones."""
    moved = {term: expected.get(term, 0) - stored.get(term, 0) for term in expected.keys() | stored.keys()}
    return {term: delta for term, delta in sorted(moved.items()) if delta}
