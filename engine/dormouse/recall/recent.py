"""Reading one's own writes: what is durable but not yet searchable is read before the stores.

Small and few (writes §8), so it is scored by words alone. Its score is put on the scale of the others by how
far its BM25 stands above theirs.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dormouse.ids import TermId
from dormouse.model.document import Document, Revision
from dormouse.model.passage import Passage
from dormouse.recall.fuse import Ranked
from dormouse.text.terms import bm25_weights, terms

MAX_ITEMS = 100

PassagesOf = Callable[[Document, Revision], Awaitable[Sequence[Passage]]]


@dataclass(frozen=True, slots=True)
class Pending:
    """A passage that waits to become searchable, and its BM25 for the query."""

    passage: Passage
    terms_score: float


async def find_pending(
    waiting: Sequence[tuple[Document, Revision]], passages_of: PassagesOf, weights: Mapping[TermId, float]
) -> list[Pending]:
    """Those that share a term with the query, newest first."""
    found = []
    for document, revision in waiting:
        for passage in await passages_of(document, revision):
            score = terms_score(passage, weights)
            if score > 0:
                found.append(Pending(passage, score))
    return found


def terms_score(passage: Passage, weights: Mapping[TermId, float]) -> float:
    counts = terms(passage.indexed_text, passage.language)
    own = bm25_weights(counts, counts.total(), passage.kind)
    return sum(weight * own.get(term, 0.0) for term, weight in weights.items())


def on_one_scale(
    pending: Sequence[Pending], ranked: Sequence[Ranked], terms_of_ranked: Sequence[float]
) -> list[Ranked]:
    """As if every other signal agreed with the terms: the score that stands as far above the mean."""
    if not ranked:
        return [Ranked(each.passage.id, each.terms_score) for each in pending]
    scores = np.array([each.score for each in ranked])
    known = np.array(terms_of_ranked)
    spread = float(known.std()) or 1.0
    return [
        Ranked(
            each.passage.id,
            float(scores.mean() + (each.terms_score - known.mean()) / spread * scores.std()),
        )
        for each in pending
    ]
