"""Between rows and filters as both engines have them and what a Qdrant server takes and gives; no I/O.

Points come and go as messages and not as the client's models: checking every number of them costs more than
the call.
"""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from qdrant_client import grpc as messages
from qdrant_client import models
from qdrant_client.conversions.conversion import RestToGrpc, json_to_value

from dormouse.adapters.vector_store.rows import DENSE, TERMS, WINDOW, Arm, Row, Where

Weights = tuple[list[int], list[float]]


def filter_of(where: Where) -> models.Filter:
    if not where:
        raise ValueError("an empty filter means every point")
    return models.Filter(must=[_condition(*one) for one in where])


def any_of(wanted: Sequence[Where]) -> models.Filter:
    return models.Filter(should=[filter_of(where) for where in wanted])


def among(ids: Sequence[str], where: Where) -> models.Filter:
    """Those of `ids` that match."""
    return models.Filter(must=[models.HasIdCondition(has_id=list(ids)), *(_condition(*one) for one in where)])


def not_newer_than(seq: int) -> models.Filter:
    """Whoever is there already and was written by a higher change stays as it is."""
    return filter_of([("range", "seq", (None, seq + 1))])


def point_of(row: Row) -> Any:  # noqa: ANN401 messages are generated without types, here and below
    vectors = {DENSE: messages.Vector(dense=messages.DenseVector(data=_floats(row.dense)))}
    for name, (indices, values) in ((TERMS, row.terms), (WINDOW, row.window)):
        if indices:
            vectors[name] = messages.Vector(sparse=messages.SparseVector(indices=indices, values=values))
    return messages.PointStruct(
        id=messages.PointId(uuid=row.id),
        payload={name: json_to_value(value) for name, value in row.payload.items()},
        vectors=messages.Vectors(vectors=messages.NamedVectors(vectors=vectors)),
    )


def row_of(record: models.Record) -> Row:
    """Whole: with all its vectors."""
    vectors: Mapping[str, Any] = record.vector if isinstance(record.vector, dict) else {}
    dense = array("f", vectors[DENSE]).tobytes()
    return Row(
        str(record.id), record.payload or {}, dense, weights(vectors.get(TERMS)), weights(vectors.get(WINDOW))
    )


def weights(vector: models.SparseVector | None) -> Weights:
    return ([], []) if vector is None else (list(vector.indices), list(vector.values))


def query_of(arm: Arm, limit: int, chosen: models.Filter, fields: Sequence[str] = ()) -> Any:  # noqa: ANN401
    """The nearest inside `chosen`; every distance is computed, no graph is followed."""
    return messages.QueryPoints(
        query=messages.Query(nearest=_input(arm)),
        using=arm.name,
        filter=RestToGrpc.convert_filter(chosen),
        params=messages.SearchParams(exact=True),
        limit=limit,
        with_payload=_only(fields),
        with_vectors=messages.WithVectorsSelector(enable=False),
    )


def contents_of(ids: Sequence[str], where: Where, fields: Sequence[str]) -> Any:  # noqa: ANN401
    """Beside other queries: those of `ids` that match, by id, with what they say of themselves."""
    return messages.QueryPoints(
        filter=RestToGrpc.convert_filter(among(ids, where)),
        limit=len(ids),
        with_payload=_only(fields),
        with_vectors=messages.WithVectorsSelector(enable=False),
    )


def _condition(kind: str, field: str, value: Any) -> models.FieldCondition:  # noqa: ANN401 by its kind
    if kind == "any":
        return models.FieldCondition(key=field, match=models.MatchAny(any=list(value)))
    if kind == "equals":
        return models.FieldCondition(key=field, match=models.MatchValue(value=value))
    start, below = value
    return models.FieldCondition(key=field, range=models.Range(gte=start, lt=below))


def _input(arm: Arm) -> Any:  # noqa: ANN401
    if isinstance(arm.query, bytes):
        return messages.VectorInput(dense=messages.DenseVector(data=_floats(arm.query)))
    indices, values = arm.query
    return messages.VectorInput(sparse=messages.SparseVector(indices=indices, values=values))


def _only(fields: Sequence[str]) -> Any:  # noqa: ANN401
    if not fields:
        return messages.WithPayloadSelector(enable=False)
    return messages.WithPayloadSelector(include=messages.PayloadIncludeSelector(fields=fields))


def _floats(packed: bytes) -> Sequence[float]:
    floats = array("f")
    floats.frombytes(packed)
    return floats
