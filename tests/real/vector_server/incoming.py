"""From what a request says to what the engine takes, refusing first what the real server refuses.

Served is what the adapter asks for. The rest is refused by name and never ignored: a filter with a condition
left out would match more than was asked for.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from typing import Any
from uuid import UUID

import qdrant_edge as edge
from qdrant_client import grpc as messages
from qdrant_client.conversions.conversion import GrpcToRest, grpc_to_payload
from qdrant_client.http import models

from tests.real.vector_server.refusals import check_path, invalid, not_served

PointId = int | UUID | str
_UNLIKE = "Wrong input: Conversion between sparse and regular vectors failed"
_MATCHES: Mapping[str, Callable[[Any], Any]] = {
    "keyword": edge.MatchValue,
    "integer": edge.MatchValue,
    "keywords": lambda value: edge.MatchAny(list(value.strings)),
    "integers": lambda value: edge.MatchAny(list(value.integers)),
    "except_keywords": lambda value: edge.MatchExcept(list(value.strings)),
    "except_integers": lambda value: edge.MatchExcept(list(value.integers)),
}


def id_of(point: Any) -> PointId:
    if point.WhichOneof("point_id_options") == "num":
        return int(point.num)
    try:
        return str(UUID(point.uuid))
    except ValueError:
        raise invalid(f"Unable to parse UUID: {point.uuid}") from None


def filter_of(message: Any) -> edge.Filter:
    if message.HasField("min_should"):
        raise not_served("min_should")
    must, should, must_not = (
        [_condition(each) for each in part] or None for part in (message.must, message.should, message.must_not)
    )
    return edge.Filter(must=must, should=should, must_not=must_not)


def _condition(message: Any) -> Any:
    kind = message.WhichOneof("condition_one_of")
    value: Any = getattr(message, kind) if kind else None
    if kind == "field":
        return _field_condition(value)
    if kind == "has_id":
        return edge.HasIdCondition({id_of(each) for each in value.has_id})
    if kind == "filter":
        return filter_of(value)
    if kind == "is_empty":
        return edge.IsEmptyCondition(value.key)
    raise not_served(f"the condition {kind}")


def _field_condition(message: Any) -> edge.FieldCondition:
    check_path(message.key)
    set_fields = {field.name for field, _ in message.ListFields()} - {"key"}
    if set_fields == {"match"}:
        kind = message.match.WhichOneof("match_value")
        if kind not in _MATCHES:  # flags too: the engine never matches them, and a test would pass for it
            raise not_served(f"the match {kind}")
        return edge.FieldCondition(message.key, match=_MATCHES[kind](getattr(message.match, kind)))
    if set_fields == {"range"}:
        bounds = {name: getattr(message.range, name) for name in ("gt", "gte", "lt", "lte")}
        given = {name: value for name, value in bounds.items() if message.range.HasField(name)}
        return edge.FieldCondition(message.key, range=edge.RangeFloat(**given))
    raise not_served(f"a condition of {sorted(set_fields)}")


def points_of(messages_: Sequence[Any], shapes: Mapping[str, int | None]) -> list[edge.Point]:
    """All are looked at before any is stored. `shapes`: the size of each dense vector, None for sparse."""
    if not messages_:
        raise invalid("Bad request: Empty update request")
    return [_point(message, number, shapes) for number, message in enumerate(messages_)]


def _point(message: Any, number: int, shapes: Mapping[str, int | None]) -> edge.Point:
    options = message.vectors.WhichOneof("vectors_options")
    if options == "vector":
        raise invalid("Wrong input: Not existing vector name error: ")
    named = dict(message.vectors.vectors.vectors) if options else {}
    vectors = {name: _vector(name, value, number, shapes) for name, value in named.items()}
    return edge.Point(id_of(message.id), vectors, grpc_to_payload(message.payload))


def _vector(name: str, message: Any, number: int, shapes: Mapping[str, int | None]) -> Any:
    value = GrpcToRest.convert_vector(message)
    where = f"points[{number}].vectors.vectors_options.vectors.[]"
    return _checked(name, value, shapes, where=where, of=f" for vector '{name}'")


def query_of(message: Any, shapes: Mapping[str, int | None]) -> Any:
    """The nearest to a vector; None for no query, which pages by id."""
    if message.prefetch:
        raise not_served("prefetch")
    if not message.HasField("query"):
        return None
    if message.query.WhichOneof("variant") != "nearest":
        raise not_served(f"the query {message.query.WhichOneof('variant')}")
    value = GrpcToRest.convert_vector_input(message.query.nearest)
    if isinstance(value, int | str):
        raise not_served("a query by id")
    return edge.Query.Nearest(
        _checked(message.using, value, shapes, where="query.variant.variant"), message.using
    )


def _checked(name: str, value: Any, shapes: Mapping[str, int | None], *, where: str, of: str = "") -> Any:
    if name not in shapes:
        raise invalid(f"Wrong input: Not existing vector name error: {name}")
    size, is_sparse = shapes[name], isinstance(value, models.SparseVector)
    if is_sparse is not (size is None):
        raise invalid(_UNLIKE)
    if is_sparse:
        return _sparse(value, where)
    if value and isinstance(value[0], list):
        raise invalid("Wrong input: Conversion between multi and regular vectors failed")
    if len(value) != size:
        raise invalid(f"Wrong input: Vector dimension error: expected dim: {size}, got {len(value)}{of}")
    _refuse_not_finite(value)
    return list(value)


def _sparse(value: models.SparseVector, where: str) -> edge.SparseVector:
    if len(value.indices) != len(value.values):
        rule = "values: Validation error: must be the same length as indices"
        raise invalid(f"Validation error in body: [{where}.{rule} [{{}}]]")
    if len(set(value.indices)) != len(value.indices):
        raise invalid(f"Validation error in body: [{where}.indices: Validation error: must be unique [{{}}]]")
    _refuse_not_finite(value.values)
    return edge.SparseVector(list(value.indices), list(value.values))


def _refuse_not_finite(numbers: Iterable[float]) -> None:
    """The real server takes them and ranks them first; the engine never finds them again."""
    if not all(map(isfinite, numbers)):
        raise not_served("numbers that are not finite")


def payload_selector(message: Any, field: str, *, default: bool) -> Any:
    if not message.HasField(field):
        return default
    value = GrpcToRest.convert_with_payload_selector(message.with_payload)
    if isinstance(value, models.PayloadSelectorExclude):
        return edge.PayloadSelector.Exclude(value.exclude)
    return value


def vector_selector(message: Any, shapes: Mapping[str, int | None]) -> Any:
    if not message.HasField("with_vectors"):
        return False
    value = GrpcToRest.convert_with_vectors_selector(message.with_vectors)
    for name in value if isinstance(value, list) else ():
        if name not in shapes:
            raise invalid(f"Wrong input: Not existing vector name error: {name}")
    return value


def search_params(message: Any) -> edge.SearchParams | None:
    if not message.HasField("params"):
        return None
    given = {field.name for field, _ in message.params.ListFields()}
    if given - {"exact", "hnsw_ef", "indexed_only"}:
        raise not_served(f"search parameters {sorted(given)}")
    return edge.SearchParams(
        hnsw_ef=message.params.hnsw_ef if message.params.HasField("hnsw_ef") else None,
        exact=message.params.exact,
        indexed_only=message.params.indexed_only,
    )


def update_mode(message: Any) -> edge.UpdateMode | None:
    modes = {
        messages.UpdateMode.Upsert: edge.UpdateMode.Upsert,
        messages.UpdateMode.InsertOnly: edge.UpdateMode.InsertOnly,
        messages.UpdateMode.UpdateOnly: edge.UpdateMode.UpdateOnly,
    }
    return modes[message.update_mode] if message.HasField("update_mode") else None


def limit_of(message: Any) -> int:
    if not message.HasField("limit"):
        return 10
    if message.limit == 0:
        raise invalid("Validation error in body: [limit: value 0 invalid, must be 1 or larger]")
    return int(message.limit)
