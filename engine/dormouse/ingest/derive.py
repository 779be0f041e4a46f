"""One window to a part of derived passages: by the model, or copied from an older revision that had the same.

Each memory is worded as a passage of its own that names the one it rests on; so it is found by its own words
and vectors, and shown as what its source says. Names are grounded in the item's ontologies before a window is
stored, so that what is stored is whole. Source: retrieval, "Indexed units".
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dormouse.codec.part import Part, decode_part, encode_part
from dormouse.codec.plan import ChunkPlan, decode_plan
from dormouse.errors import NotFoundError, StoreUnavailableError
from dormouse.ids import BlobKey, PassageId, derived_memory_id
from dormouse.ingest.embed import embed
from dormouse.ingest.ground import ground_all
from dormouse.ingest.ontologies import Grounding, Ontologies
from dormouse.ingest.windows import digest_of, windows_of
from dormouse.model.document import Document, Revision
from dormouse.model.job import Job, JobCounts
from dormouse.model.memory import Extraction, MemoryDraft
from dormouse.model.passage import Passage, PassageKind, PassageVectors
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.embedder import Embedder, Embedders
from dormouse.ports.extractor import Window, WindowExtraction, WindowExtractor
from dormouse.text.language import detect_language

_COUNTED_DROPS = frozenset({"no_quote", "unknown_passage", "repeated", "too_many"})


@dataclass(frozen=True, slots=True)
class Task:
    """What one job is to derive: its windows, those stored already, what their entities are grounded in, and an
    older revision's parts by digest."""

    job: Job
    windows: tuple[Window, ...]
    stored: frozenset[int]
    grounding: Grounding
    older: Mapping[str, Part]


@dataclass(frozen=True, slots=True)
class Derived:
    """A stored window; `counts` is what the model said and cost, nothing for a copy."""

    index: int
    blob: BlobKey
    counts: JobCounts


class Derivation:
    def __init__(
        self,
        catalog: Catalog,
        blobs: BlobStore,
        embedders: Embedders,
        extractor: WindowExtractor,
        ontologies: Ontologies,
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._embedders = embedders
        self._extractor = extractor
        self._ontologies = ontologies

    async def task(self, job: Job) -> Task | None:
        """None when the document is forgotten. Raises `StoreUnavailableError`."""
        async with self._catalog.reading() as tx:
            document = await tx.documents.get(job.document) if job.document else None
            revision = await tx.revisions.get(document.id, job.revision) if document else None
            plan = await tx.work.plan(job.id)
            stored = await tx.enrichment.windows(job.id)
        if document is None or revision is None or plan is None:
            return None
        passages = decode_plan(await self._blobs.get(plan))
        windows = await asyncio.to_thread(_windows, passages, revision)
        return Task(
            job=job,
            windows=windows,
            stored=frozenset(stored),
            grounding=await self._ontologies.grounding(job.principal, revision.options),
            older=await self._older(document, revision),
        )

    def is_copied(self, task: Task, index: int) -> bool:
        return self._digest(task, index) in task.older

    def estimated_tokens(self, window: Window) -> int:
        return self._extractor.estimated_tokens(window)

    async def derive(self, task: Task, index: int) -> Derived:
        """Ask, or copy, and store. Raises `ModelRefusedError` and `UnavailableError`, the model's too."""
        window, embedder = task.windows[index], self._embedders.active
        digest = self._digest(task, index)
        older = task.older.get(digest)
        if older is None:
            made = await self._extractor.derive(window)
            extractions, counts = await _grounded(made, window, task.grounding), _counts(made)
        else:
            extractions, counts = older.extractions, JobCounts(windows_copied=1)
        passages = tuple(_derived(window, extractions, task.job.revision))
        part = Part(
            index=index,
            embedder=embedder.model,
            extractor=self._extractor.version,
            zone=window.zone,
            unchanged=0,
            passages=passages,
            extractions=extractions,
            vectors=await self._vectors(window, passages, older, embedder),
            window=digest,
        )
        blob = await self._blobs.put(
            task.job.workspace, task.job.id, await asyncio.to_thread(encode_part, part)
        )
        return Derived(index, blob, counts)

    def _digest(self, task: Task, index: int) -> str:
        return digest_of(task.windows[index], task.grounding.of_results(self._extractor.version))

    async def _vectors(
        self, window: Window, passages: Sequence[Passage], older: Part | None, embedder: Embedder
    ) -> tuple[PassageVectors, ...]:
        known: dict[PassageId, PassageVectors] = {}
        if older is not None and older.embedder == embedder.model:
            known = dict(zip((each.id for each in older.passages), older.vectors, strict=True))
        fresh = [each for each in passages if each.id not in known]
        sources = {each.id: each for each in window.passages}
        computed = await embed(fresh, sources, embedder) if fresh else ()
        known.update(zip((each.id for each in fresh), computed, strict=True))
        return tuple(known[each.id] for each in passages)

    async def _older(self, document: Document, revision: Revision) -> Mapping[str, Part]:
        """Windows of the newest older revision that has any; copying only saves work, so trouble is none."""
        async with self._catalog.reading() as tx:
            blobs: Sequence[BlobKey] = ()
            for number in range(revision.number - 1, 0, -1):
                older = await tx.revisions.get(document.id, number)
                blobs = list((await tx.enrichment.windows(older.job)).values()) if older else ()
                if blobs:
                    break
        try:
            parts = [decode_part(await self._blobs.get(blob)) for blob in blobs]
        except (NotFoundError, StoreUnavailableError):
            return {}
        return {part.window: part for part in parts}


def _windows(plan: ChunkPlan, revision: Revision) -> tuple[Window, ...]:
    return windows_of(plan.passages, revision.zone, revision.options.get("custom_prompt", ""))


async def _grounded(made: WindowExtraction, window: Window, grounding: Grounding) -> tuple[Extraction, ...]:
    if not grounding.version:
        return made.extractions
    # In a thread: windows are long, and the loop has callers to answer.
    return await asyncio.to_thread(ground_all, made.extractions, window.passages, grounding.known)


def _derived(window: Window, extractions: Iterable[Extraction], revision: int) -> Iterable[Passage]:
    sources = {each.id: each for each in window.passages}
    for extraction in extractions:
        for draft in extraction.memories:
            yield _passage(sources[extraction.passage], draft, revision)


def _passage(source: Passage, draft: MemoryDraft, revision: int) -> Passage:
    return replace(
        source,
        id=PassageId(derived_memory_id(source.id, draft.kind.value, draft.content)),
        first_revision=revision,
        last_revision=revision,
        kind=PassageKind.DERIVED,
        text=draft.content,
        previous=(source.id,),
        language=detect_language(draft.content) or source.language,
    )


def _counts(made: WindowExtraction) -> JobCounts:
    dropped = Counter(made.dropped)
    others = sum(count for reason, count in dropped.items() if reason not in _COUNTED_DROPS)
    return JobCounts(
        repaired_quotes=made.repaired,
        dropped_no_quote=dropped["no_quote"],
        dropped_malformed=others,
        dropped_unknown_passage=dropped["unknown_passage"],
        dropped_repeated=dropped["repeated"],
        dropped_too_many=dropped["too_many"],
        model_calls=made.usage.calls,
        tokens_in=made.usage.tokens_in,
        tokens_out=made.usage.tokens_out,
    )
