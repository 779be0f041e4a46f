"""The query's terms to search arms, weighted by document frequencies of exactly the readable datasets.

The engine's own frequencies would count what the caller may not read, and move scores by it (P5).
"""

from collections.abc import Mapping

from dormouse.ids import TermId
from dormouse.model.scope import Scope
from dormouse.ports.catalog.transaction import CatalogTransaction
from dormouse.ports.vector_store import TermArm
from dormouse.recall.understand import Understanding
from dormouse.text.terms import query_weights

NOMINEES = 100  # per arm; the union of three arms holds what scoring everything would find


async def term_weights(
    tx: CatalogTransaction, scope: Scope, understanding: Understanding
) -> dict[TermId, float]:
    counts = await tx.terms.counts(scope.readable, understanding.terms.keys())
    return query_weights(understanding.terms, counts)


def term_arms(weights: Mapping[TermId, float], *, with_windows: bool) -> dict[str, TermArm]:
    """By the names under which `fuse` knows them; none if the query has no terms."""
    if not weights:
        return {}
    arms = {"terms": TermArm(weights, limit=NOMINEES)}
    if with_windows:
        arms["terms_window"] = TermArm(weights, of_window=True, limit=NOMINEES)
    return arms
