"""Nomination: every arm names its best, and the union comes back with every arm's score and its tokens."""

from collections.abc import Mapping

from dormouse.model.scope import Scope
from dormouse.ports.vector_store import DenseArm, PointFilter, TermArm, VectorStore
from dormouse.recall.fuse import Evidence

Arms = Mapping[str, DenseArm | TermArm]


async def gather_evidence(vectors: VectorStore, scope: Scope, arms: Arms, where: PointFilter) -> Evidence:
    """Raises `StoreUnavailableError`."""
    named = await vectors.nominate(scope, list(arms.values()), where)
    return Evidence(named, dict(zip(arms, named.scores, strict=True)))
