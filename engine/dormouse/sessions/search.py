"""Session entries are ranked by BM25 with stop words dropped, so a shared "the" is not a hit.

Frequencies are those of the session itself. Source: contract-graph, "recall".
"""

import math
from collections import Counter
from collections.abc import Sequence

from dormouse.ids import TermId
from dormouse.model.recall import SessionHit
from dormouse.model.scope import Scope
from dormouse.model.session import TTL_MS, SessionEntry
from dormouse.ports.catalog.transaction import Catalog
from dormouse.text.language import detect_language
from dormouse.text.terms import terms

K1, B = 0.9, 0.4  # short entries, as for chat turns
MAX_ENTRIES = 1000  # newest first; a longer session forgets its beginning here, not in the graph


def rank(entries: Sequence[SessionEntry], query: str, top_k: int) -> list[SessionHit]:
    """Entries that share a term with the query, best first; newer first among equals."""
    wanted = terms(query, detect_language(query))
    counted = [terms(entry.text, detect_language(entry.text)) for entry in entries]
    weights = _inverse_frequencies(wanted, counted)
    mean_length = sum(c.total() for c in counted) / max(1, len(counted))
    hits = [
        SessionHit(entry, _score(weights, counts, mean_length))
        for entry, counts in zip(entries, counted, strict=True)
    ]
    found = [hit for hit in hits if hit.score > 0]
    return sorted(found, key=lambda hit: (-hit.score, -hit.entry.created_ms, hit.entry.id))[:top_k]


async def search(catalog: Catalog, scope: Scope, session: str, query: str, top_k: int) -> Sequence[SessionHit]:
    """The caller's own session only; using it slides its expiry."""
    async with catalog.reading() as tx:
        entries = await tx.sessions.entries(scope.principal, session, MAX_ENTRIES)
    if not entries:
        return []
    async with catalog.transaction() as tx:
        await tx.sessions.touch(scope.principal, session, tx.now_ms + TTL_MS)
        await tx.commit()
    return rank(entries, query, top_k)


def _inverse_frequencies(wanted: Counter[TermId], counted: Sequence[Counter[TermId]]) -> dict[TermId, float]:
    holding = {term: sum(term in counts for counts in counted) for term in wanted}
    return {term: math.log(1 + (len(counted) - n + 0.5) / (n + 0.5)) for term, n in holding.items() if n}


def _score(weights: dict[TermId, float], counts: Counter[TermId], mean_length: float) -> float:
    norm = K1 * (1 - B + B * counts.total() / max(1.0, mean_length))
    return sum(w * counts[t] * (K1 + 1) / (counts[t] + norm) for t, w in weights.items() if t in counts)
