"""What was derived is found by its own words and shown as the passage it is from. Pure.

A passage ranks by the best of itself and of what a model derived from it; so a memory never takes two places,
and whoever reads a hit reads what was really said.
"""

from collections.abc import Sequence
from dataclasses import replace

from dormouse.ids import PassageId
from dormouse.ports.vector_store import Nomination
from dormouse.recall.fuse import Ranked

MAX_THROUGH = 3  # derived memories shown with a passage, best first


def pooled(ranked: Sequence[Ranked], named: Nomination) -> list[Ranked]:
    """Without derived passages, their sources in their stead; in no particular order."""
    source_of = _sources(named)
    if not source_of:
        return list(ranked)
    best: dict[PassageId, Ranked] = {}
    for each in sorted(ranked, key=lambda one: (-one.score, one.passage)):
        source = source_of.get(each.passage, each.passage)
        if source is None:
            continue  # what it was derived from is gone
        known = best.setdefault(source, Ranked(source, each.score))
        if source != each.passage and len(known.through) < MAX_THROUGH:
            best[source] = replace(known, through=(*known.through, each.passage))
    return list(best.values())


def _sources(named: Nomination) -> dict[PassageId, PassageId | None]:
    rows = named.is_derived.nonzero()[0].tolist()
    before = named.previous[:, 0].tolist()
    return {named.passages[row]: named.passages[before[row]] if before[row] >= 0 else None for row in rows}
