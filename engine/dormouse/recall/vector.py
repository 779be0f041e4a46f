"""Nomination: every arm names its best, and the union comes back with every arm's score and its tokens.

Three calls: the arms, the union's token vectors with the windows', the scores of those that an arm left out.
"""

import asyncio
from collections.abc import Mapping

from dormouse.model.scope import Scope
from dormouse.ports.vector_store import DenseArm, PointFilter, TermArm, VectorStore
from dormouse.recall.fuse import Evidence

Arms = Mapping[str, DenseArm | TermArm]


async def gather_evidence(vectors: VectorStore, scope: Scope, arms: Arms, where: PointFilter) -> Evidence:
    """Raises `StoreUnavailableError`."""
    searched = list(arms.values())
    named = {nominee.passage for found in await vectors.search(scope, searched, where) for nominee in found}
    if not named:
        return Evidence((), {}, {})
    async with asyncio.TaskGroup() as group:
        fetching = group.create_task(vectors.candidates(scope, named), name="candidates")
        scoring = group.create_task(vectors.scores(scope, searched, named), name="scores")
    candidates = sorted(fetching.result(), key=lambda each: each.passage)
    before = {id_ for each in candidates for id_ in each.previous} - named
    neighbours = await vectors.candidates(scope, before) if before else ()
    return Evidence(
        candidates=candidates,
        arms=dict(zip(arms, scoring.result(), strict=True)),
        neighbours={each.passage: each.tokens for each in neighbours},
    )
