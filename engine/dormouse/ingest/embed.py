"""Passages to what search needs of them: terms, the window's terms, pooled and token vectors.

A window is a turn with the two before it in its session, or what was derived with what it was derived from. Its
terms are the sum of theirs, so they need no text of their own and no second forward pass.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence

from dormouse.ids import PassageId, TermId
from dormouse.model.passage import Passage, PassageKind, PassageVectors
from dormouse.ports.embedder import Embedder
from dormouse.text.terms import bm25_weights, terms


async def embed(
    passages: Sequence[Passage], neighbours: Mapping[PassageId, Passage], embedder: Embedder
) -> Sequence[PassageVectors]:
    """In order. `neighbours` holds passages named by `previous` that are not among `passages` themselves.

    Raises `EmbedderUnavailableError`.
    """
    embedded = await embedder.embed_passages([passage.indexed_text for passage in passages])
    # Stemming 200 passages takes a tenth of a second, which the event loop does not have.
    weighted = await asyncio.to_thread(weigh, passages, neighbours)
    return [
        PassageVectors(terms=own, window_terms=window, dense=vectors.dense, tokens=vectors.tokens)
        for vectors, (own, window) in zip(embedded, weighted, strict=True)
    ]


def weigh(
    passages: Sequence[Passage], neighbours: Mapping[PassageId, Passage]
) -> list[tuple[dict[TermId, float], dict[TermId, float]]]:
    """BM25 weights of each passage and of its window; a chunk has no window."""
    known = {**neighbours, **{passage.id: passage for passage in passages}}
    wanted = {passage.id for passage in passages}
    wanted |= {before for each in passages if each.kind is not PassageKind.CHUNK for before in each.previous}
    counts = {
        id_: terms(passage.indexed_text, passage.language) for id_, passage in known.items() if id_ in wanted
    }
    return [
        (bm25_weights(own, own.total(), passage.kind), _window(passage, counts))
        for passage in passages
        for own in (counts[passage.id],)
    ]


def _window(passage: Passage, counts: Mapping[PassageId, Counter[TermId]]) -> dict[TermId, float]:
    if passage.kind is PassageKind.CHUNK:
        return {}
    window = Counter(counts[passage.id])
    for before in passage.previous:
        window.update(counts.get(before, {}))
    return bm25_weights(window, window.total(), passage.kind, is_window=True)
