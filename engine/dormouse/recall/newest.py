"""Of memories that answer a question equally well, and say nearly the same, the newest comes first. Pure.

A fact that changed is told twice in almost the same words, and which of the two has the nearer words is chance.
Equally well means: with the same of the question's words, so that what they differ in was not asked for.
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import combinations

from dormouse.ids import TermId
from dormouse.model.recall import Hit
from dormouse.recall.understand import Understanding
from dormouse.text.terms import terms

LONGEST_CHARACTERS = 600  # a claim; longer texts say too much to be each other's later version
_WORD = re.compile(r"\w+")
FEWEST_SHARED = 2
LEAST_SHARED = (
    0.6  # of the shorter one's terms: "Ada lives in Lisbon" and "Ada lives in Porto" share two of three
)


@dataclass(slots=True)
class _Likes:
    """Places whose memories say nearly the same, best first; others are compared with the best one's words."""

    terms: frozenset[TermId]
    asked: frozenset[TermId]
    places: list[int]


def newest_first(understanding: Understanding, hits: Sequence[Hit]) -> list[Hit]:
    """The same hits, in which the newest of such as are alike has the best one's place and score. Those of a
    question that names a time keep their order: the newest is not from then."""
    ordered = list(hits)
    if understanding.dates:
        return ordered
    for likes in _alike(understanding, hits):
        newest = sorted((hits[place] for place in likes.places), key=_told_ms, reverse=True)
        for place, hit in zip(likes.places, newest, strict=True):
            ordered[place] = replace(hit, score=hits[place].score)
    return ordered


def _alike(understanding: Understanding, hits: Sequence[Hit]) -> list[_Likes]:
    by_source: dict[tuple[str, str], list[_Likes]] = {}
    for place in _candidates(hits):
        passage = hits[place].passage
        said = frozenset(terms(passage.text, passage.language))
        asked = frozenset(term for term in understanding.terms if term in said)
        groups = by_source.setdefault(_source(hits[place]), [])
        for group in groups:
            if asked and asked == group.asked and _is_near(said, group.terms):
                group.places.append(place)
                break
        else:
            groups.append(_Likes(said, asked, [place]))
    return [group for groups in by_source.values() for group in groups if len(group.places) > 1]


def _candidates(hits: Sequence[Hit]) -> list[int]:
    """Places of short, dated memories that share most words, as written, with another one of their source: to
    find the terms of all of them would take longer than all the rest here."""
    words = {
        place: frozenset(_WORD.findall(hit.passage.text.lower()))
        for place, hit in enumerate(hits)
        if len(hit.passage.text) <= LONGEST_CHARACTERS and _told_ms(hit)
    }
    found: set[int] = set()
    for one, other in combinations(words, 2):
        if _source(hits[one]) == _source(hits[other]) and _is_near(words[one], words[other]):
            found |= {one, other}
    return sorted(found)


def _source(hit: Hit) -> tuple[str, str]:
    return hit.passage.dataset, hit.passage.speaker


def _is_near(one: AbstractSet[object], other: AbstractSet[object]) -> bool:
    shared = len(one & other)
    return shared >= FEWEST_SHARED and shared >= LEAST_SHARED * min(len(one), len(other))


def _told_ms(hit: Hit) -> int:
    """When it was said, or else remembered; 0 where neither is known."""
    said = hit.passage.occurred_ms
    return (hit.remembered_ms or 0) if said is None else said
