"""What applying a window of derived memories will do: they replace what rules found in their passages.

A passage of which the model said nothing keeps what it had: a reply may have been cut, and rules are better
than nothing. Derived passages go into graph and vectors like any other, under their document and its revision,
so that every erasure and retirement finds them; term statistics do not count them. Source: writes §4.
"""

from collections.abc import Iterable, Mapping, Sequence

from dormouse.access.writer import writer_scope
from dormouse.apply.reconcile import Occasion, reconcile
from dormouse.apply.resolve import resolve
from dormouse.codec.change_set import ChangeSet, TermDelta
from dormouse.codec.part import Part, decode_part
from dormouse.ids import PassageId
from dormouse.model.change import Change
from dormouse.model.interval import END_MS
from dormouse.model.job import JobCounts
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.graph_store import GraphRows, GraphStore, MemoryQuery

OPEN_MS = END_MS - 1  # an instant inside every transaction interval that has not ended


class EnrichingDecider:
    def __init__(self, catalog: Catalog, graph: GraphStore, blobs: BlobStore) -> None:
        self._catalog = catalog
        self._graph = graph
        self._blobs = blobs

    async def decide(self, change: Change) -> ChangeSet:
        assert change.blob is not None
        part = decode_part(await self._blobs.get(change.blob))
        async with self._catalog.reading() as tx:
            job = await tx.jobs.get(change.job)
            is_hidden = change.document is not None and (await tx.hidden.of(change.document)).is_applied
        scope = writer_scope(change.workspace, change.dataset)
        speaking = {each.passage: each for each in part.extractions if each.memories}
        sources = {each.id: each for each in await self._graph.passages(scope, list(speaking))}
        query = MemoryQuery(passages=list(sources), known_at_ms=OPEN_MS)
        believed = await self._graph.memories(scope, query) if sources else ()
        extractions = [speaking[id_] for id_ in sources]
        resolution = resolve(change.dataset, extractions)
        occasion = Occasion(job.accepted_ms, job.revision, derived_by=part.extractor)
        found = [(sources[each.passage], each) for each in extractions]
        reconciled = reconcile(found, believed, resolution, occasion)
        derived = _of_sources(part, sources)
        return ChangeSet(
            seq=change.seq,
            kind=change.kind,
            rows=GraphRows(
                passages=derived,
                entities=resolution.entities,
                mentions=resolution.mentions,
                relations=resolution.relations,
                versions=reconciled.versions,
                closed=reconciled.closed,
            ),
            erasure=None,
            terms=TermDelta(change.dataset, change.generation),
            retired=TermDelta(change.dataset, change.generation),
            counts=JobCounts(windows_done=1, derived=len(derived)),
            is_hidden=is_hidden,
        )


def stands_derived(
    passages: Iterable[Passage], present: Mapping[PassageId, Passage], believed: Sequence[MemoryVersion]
) -> frozenset[PassageId]:
    """Passages that an update leaves as they were, and of which a model derived what is believed: rules do not
    take that back."""
    derived = {version.passage for version in believed if version.derived_by}
    return frozenset(
        each.id for each in passages if each.id in derived and _when(each) == _when(present[each.id])
    )


def _of_sources(part: Part, sources: Mapping[PassageId, Passage]) -> tuple[Passage, ...]:
    return tuple(each for each in part.passages if each.previous and each.previous[0] in sources)


def _when(passage: Passage) -> tuple[object, ...]:
    return (passage.occurred_ms, passage.offset_minutes, passage.precision)
