"""From what the engine gives to what the real server answers."""

import random
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any
from uuid import UUID

import qdrant_edge as edge
from qdrant_client import grpc as messages
from qdrant_client.conversions.conversion import json_to_value

_LOTS = random.Random()


def id_message(id_: int | str | UUID) -> Any:
    return messages.PointId(num=id_) if isinstance(id_, int) else messages.PointId(uuid=str(id_))


def scored(hits: Sequence[edge.ScoredPoint], limit: int) -> list[Any]:
    """Equal scores come in any order, another one each time, also where the limit cuts."""
    drawn: list[edge.ScoredPoint] = []
    for _, equals in groupby(hits, key=lambda hit: hit.score):
        twins = list(equals)
        _LOTS.shuffle(twins)
        drawn += twins
    return [_with_contents(messages.ScoredPoint(score=hit.score), hit) for hit in drawn[:limit]]


def unscored(records: Iterable[edge.Record]) -> list[Any]:
    """What a query without a query finds."""
    return [_with_contents(messages.ScoredPoint(score=1.0), record) for record in records]


def retrieved(records: Iterable[edge.Record]) -> list[Any]:
    return [_with_contents(messages.RetrievedPoint(), record) for record in records]


def _with_contents(message: Any, found: edge.Record | edge.ScoredPoint) -> Any:
    message.id.CopyFrom(id_message(found.id))
    for key, value in (found.payload or {}).items():
        message.payload[key].CopyFrom(json_to_value(value))
    vectors: Any = found.vector
    if vectors is not None:
        message.vectors.vectors.SetInParent()
        for name, vector in vectors.items():
            message.vectors.vectors.vectors[name].CopyFrom(_vector(vector))
    return message


def _vector(vector: Any) -> Any:
    if isinstance(vector, edge.SparseVector):
        sparse = messages.SparseVector(indices=vector.indices, values=vector.values)
        return messages.VectorOutput(sparse=sparse)
    return messages.VectorOutput(dense=messages.DenseVector(data=vector))
