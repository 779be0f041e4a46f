"""Nomination: every arm names its best, and the union comes back with every arm's score and its tokens."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dormouse.model.scope import Scope
from dormouse.ports.vector_store import DenseArm, Nomination, PointFilter, TermArm, VectorStore
from dormouse.recall.fuse import Evidence

Arms = Mapping[str, DenseArm | TermArm]


async def gather_evidence(vectors: VectorStore, scope: Scope, arms: Arms, where: PointFilter) -> Evidence:
    """Raises `StoreUnavailableError`."""
    named = await vectors.nominate(scope, list(arms.values()), where)
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
