"""Hydration: text and visibility come from the graph and the catalog; the vectors only nominated.

A passage that is forgotten, of another dataset, or from after the asked-for instant is dropped here.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from dormouse.ids import DocumentId, PassageId
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.model.scope import Scope
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.ports.graph_store import ClaimQuery, GraphStore, MemoryQuery
from dormouse.recall.fuse import Ranked
from dormouse.recall.timeline import in_time, subjects_of

# Those that may be seen, and when the document of each last changed, in milliseconds.
Seen = tuple[list[Passage], Mapping[DocumentId, int]]
Visible = Callable[[CatalogTransaction, Scope, Sequence[Passage]], Awaitable[Seen]]

Memories = Mapping[PassageId, tuple[MemoryVersion, ...]]

SPARE = 2  # hydrate twice the wanted number: chunks of one message count once


async def hydrate(graph: GraphStore, scope: Scope, ids: Sequence[PassageId]) -> Sequence[Passage]:
    """Those of `ids` that the graph holds in readable datasets; raises `StoreUnavailableError`."""
    return await graph.passages(scope, ids) if ids else ()


async def only_visible(
    catalog: Catalog, visible: Visible, scope: Scope, passages: Sequence[Passage], at_ms: int | None
) -> tuple[dict[PassageId, Passage], Mapping[DocumentId, int]]:
    """Pending ones too: nothing reaches a caller but through here. With when the document of each last changed.

    Raises `CatalogUnavailableError`.
    """
    known = [each for each in passages if at_ms is None or not is_after(each, at_ms)]
    if not known:
        return {}, {}
    seen, changed_ms = await catalog.read(lambda tx: visible(tx, scope, known))
    return {each.id: each for each in seen}, changed_ms


def is_after(passage: Passage, at_ms: int) -> bool:
    return passage.occurred_ms is not None and passage.occurred_ms > at_ms


async def memories_of(
    graph: GraphStore, scope: Scope, passages: Sequence[PassageId], known_at_ms: int, valid_at_ms: int | None
) -> dict[PassageId, tuple[MemoryVersion, ...]]:
    """What is remembered of each passage, believed now and true at the asked-for instant, if one was."""
    if not passages:
        return {}
    query = MemoryQuery(passages, known_at_ms, valid_at_ms)
    grouped: dict[PassageId, tuple[MemoryVersion, ...]] = {}
    for version in await graph.memories(scope, query):
        grouped[version.passage] = (*grouped.get(version.passage, ()), version)
    return grouped


async def claims_beside(
    graph: GraphStore, scope: Scope, found: Memories, known_at_ms: int
) -> Sequence[MemoryVersion]:
    """Every claim about the same subjects; none are asked for where no claim could end another."""
    subjects = subjects_of(each for versions in found.values() for each in versions)
    return await graph.memories(scope, ClaimQuery(subjects, known_at_ms)) if subjects else ()


def true_at(found: Memories, claims: Sequence[MemoryVersion], valid_at_ms: int | None) -> Memories:
    everything = in_time([each for versions in found.values() for each in versions], claims)
    grouped: dict[PassageId, tuple[MemoryVersion, ...]] = {}
    for version in everything:
        if valid_at_ms is None or version.valid.covers(valid_at_ms):
            grouped[version.passage] = (*grouped.get(version.passage, ()), version)
    return grouped


def select(ranked: Sequence[Ranked], passages: Mapping[PassageId, Passage], top_k: int) -> list[Ranked]:
    """The best `top_k`, best first; further chunks of one message only where places stay empty."""
    firsts: list[Ranked] = []
    repeats: list[Ranked] = []
    seen: set[tuple[str, str]] = set()
    for each in ranked:
        passage = passages.get(each.passage)
        if passage is None:
            continue
        message = (passage.document, passage.external_id or "")
        is_repeat = bool(passage.external_id and passage.speaker) and message in seen
        (repeats if is_repeat else firsts).append(each)
        if len(firsts) == top_k:
            break
        seen.add(message)
    chosen = firsts[:top_k] + repeats[: max(0, top_k - len(firsts))]
    return sorted(chosen, key=lambda each: (-each.score, each.passage))
