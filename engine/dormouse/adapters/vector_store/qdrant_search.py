"""Recalls on a Qdrant server: what each arm finds, and with one more call all that scoring it needs.

The first call finds the candidates and what stood before them; the second has the server score them all with
every arm, and brings what they say. Both filter by what is readable, so a point that is hidden or erased
between the two is left out.
"""

import base64
import math
from array import array
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from dormouse.adapters.vector_store.qdrant_calls import QdrantCalls, translated
from dormouse.adapters.vector_store.qdrant_messages import among, contents_of, filter_of, query_of
from dormouse.adapters.vector_store.rows import BEFORE, DENSE, DERIVED, TURN, Arm, Named, Where
from dormouse.adapters.vector_store.ties import TIE_GROWTH, first_asked, is_cut_in_a_tie

_READ_WITH = ("kind", "previous")
_CONTENTS = ("kind", "speaker", "role", "occurred", "previous", "tokens")


async def found(
    calls: QdrantCalls, collection: str, arms: Sequence[Arm], where: Where, fields: Sequence[str] = ()
) -> list[list[Any]]:
    """By score, then id. Where the limit cuts through equal scores, all of those are fetched first."""
    chosen = filter_of(where)
    answers: list[list[Any]] = [[] for _ in arms]
    open_arms = {number: first_asked(arm) for number, arm in enumerate(arms)}
    while open_arms:
        with translated():  # a session's name may be no text that can be sent
            asked = [query_of(arms[number], count, chosen, fields) for number, count in open_arms.items()]
        hits_of = await calls.query(collection, asked)
        for (number, count), hits in zip(list(open_arms.items()), hits_of, strict=True):
            if is_cut_in_a_tie(hits, arms[number].limit, count):
                open_arms[number] = count * TIE_GROWTH
            else:
                del open_arms[number]
                answers[number] = _ranked(hits, arms[number].limit)
    return answers


async def nominated(
    calls: QdrantCalls, collection: str, arms: Sequence[Arm], where: Where, readable: Where
) -> Named:
    """What the arms find under `where`, scored by all of them, and the readable turns before it."""
    hits = {
        hit.id.uuid: hit for hits in await found(calls, collection, arms, where, _READ_WITH) for hit in hits
    }
    candidates = sorted(hits)
    before = sorted({id_ for hit in hits.values() for id_ in _read_before(hit)}.difference(hits))
    if not candidates:
        return _columns([], [], {}, [{} for _ in arms])
    everything, chosen = among([*candidates, *before], readable), among(candidates, readable)
    # Which words those before hold is in the window's terms already.
    scored = [
        query_of(arm, len(candidates) + len(before), everything if arm.name == DENSE else chosen)
        for arm in arms
    ]
    asked = [contents_of([*candidates, *before], readable, _CONTENTS), *scored]
    contents, *scores = await calls.query(collection, asked)
    return _columns(
        candidates,
        before,
        {point.id.uuid: point.payload for point in contents},
        [{hit.id.uuid: hit.score for hit in hits} for hits in scores],
    )


def _columns(
    candidates: Collection[str],
    before: Collection[str],
    contents: Mapping[str, Mapping[str, Any]],
    scores: Sequence[Mapping[str, float]],
) -> Named:
    """Of those that are still there."""
    chosen = [id_ for id_ in candidates if id_ in contents]
    ids = chosen + [id_ for id_ in before if id_ in contents]
    said = [contents[id_] for id_ in chosen]
    place = {id_: row for row, id_ in enumerate(ids)}
    previous = [place.get(id_, -1) for payload in said for id_ in (*_previous(payload), "", "")[:BEFORE]]
    tokens = [base64.b64decode(contents[id_]["tokens"].string_value) for id_ in ids]
    return Named(
        ids=ids,
        kinds=bytes([payload["kind"].integer_value for payload in said]),
        speakers=[payload["speaker"].string_value for payload in said],
        roles=[payload["role"].string_value for payload in said],
        occurred=[payload["occurred"].integer_value if "occurred" in payload else None for payload in said],
        previous=array("i", previous).tobytes(),
        scores=[array("f", [column.get(id_, 0.0) for id_ in ids]).tobytes() for column in scores],
        sizes=array("i", map(len, tokens)).tobytes(),
        tokens=b"".join(tokens),
    )


def _ranked(hits: Sequence[Any], limit: int) -> list[Any]:
    last = hits[limit - 1].score if len(hits) > limit else -math.inf
    return sorted((hit for hit in hits if hit.score >= last), key=lambda hit: (-hit.score, hit.id.uuid))[:limit]


def _read_before(hit: Any) -> Sequence[str]:  # noqa: ANN401 a message
    is_read_with = hit.payload["kind"].integer_value in (TURN, DERIVED)
    return _previous(hit.payload)[:BEFORE] if is_read_with else ()


def _previous(payload: Mapping[str, Any]) -> Sequence[str]:
    return [each.string_value for each in payload["previous"].list_value.values]
