"""Nomination: every arm names its best, and the union comes back with every arm's score and its tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dormouse.model.interval import Interval
from dormouse.model.scope import Scope
from dormouse.ports.vector_store import DenseArm, Nomination, PointFilter, TermArm, VectorStore
from dormouse.recall.dated import merged
from dormouse.recall.fuse import Evidence

Arms = Mapping[str, DenseArm | TermArm]


async def gather_evidence(
    vectors: VectorStore, scope: Scope, arms: Arms, spans: Sequence[Interval] = ()
) -> Evidence:
    """The best of all times, and the best of each of `spans`. Raises `StoreUnavailableError`."""
    asked = list(arms.values())
    named = await vectors.nominate(scope, asked, PointFilter())
    for span in spans:
        where = PointFilter(occurred=(span.start_ms, span.end_ms))
        named = merged(named, await vectors.nominate(scope, asked, where))
    return Evidence(named, dict(zip(arms, named.scores, strict=True)))


async def gather_scores(vectors: VectorStore, scope: Scope, arms: Arms, where: PointFilter) -> Evidence:
    """For a ranking by the arms alone: what they found, and 0 where one did not find what another did.

    Raises `StoreUnavailableError`.
    """
    searched = await vectors.search(scope, list(arms.values()), where)
    found = [{hit.passage: hit.score for hit in hits} for hits in searched]
    passages = sorted(set().union(*found))
    columns = [np.array([hits.get(each, 0.0) for each in passages], dtype=np.float32) for hits in found]
    named = replace(
        Nomination.nothing(), passages=passages, scores=columns, is_turn=np.zeros(len(passages), dtype=np.bool_)
    )
    return Evidence(named, dict(zip(arms, columns, strict=True)))
