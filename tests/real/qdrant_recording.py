"""Recorded calls of a real Qdrant server, made again and compared.

What the numbers, names and orders mean stands under `about` in the recording. A call has arguments as they are
in JSON, and a result or an error.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import grpc
from pydantic import TypeAdapter
from qdrant_client import AsyncQdrantClient
from qdrant_client import models as qdrant

_FILTERS = ("update_filter", "count_filter", "scroll_filter", "query_filter")
_SELECTED = list[int | str] | qdrant.Filter
_INDEX = qdrant.PayloadSchemaType | qdrant.KeywordIndexParams | qdrant.IntegerIndexParams
_TYPES: Mapping[str, Any] = {
    "vectors_config": dict[str, qdrant.VectorParams],
    "sparse_vectors_config": dict[str, qdrant.SparseVectorParams],
    "change_aliases_operations": list[
        qdrant.CreateAliasOperation | qdrant.RenameAliasOperation | qdrant.DeleteAliasOperation
    ],
    "field_schema": _INDEX,
    "points_selector": _SELECTED,
    "update_mode": qdrant.UpdateMode,
    "query": list[float] | list[list[float]] | qdrant.SparseVector,
    "search_params": qdrant.SearchParams,
    "with_payload": bool | list[str] | qdrant.PayloadSelectorInclude | qdrant.PayloadSelectorExclude,
    "requests": list[qdrant.QueryRequest],
    **dict.fromkeys(_FILTERS, qdrant.Filter),
}
_LEFT_OUT = ("operation_id", "version", "shard_key")


async def answer(client: AsyncQdrantClient, op: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """`result`, or `error` as the recording has them."""
    try:
        found = await getattr(client, op)(**{name: _decoded(op, name, value) for name, value in args.items()})
    except grpc.aio.AioRpcError as exc:
        return {"error": {"type": "AioRpcError", "status": exc.code().name, "message": exc.details()}}
    except (ValueError, UnicodeEncodeError) as exc:
        return {"error": {"type": type(exc).__name__, "status": None, "message": str(exc)}}
    return {"result": _plain(op, found)}


def is_same(recorded: Any, found: Any) -> bool:
    """Floats to 1e-4; neighbours of equal score in any order."""
    if isinstance(recorded, float) or isinstance(found, float):
        return math.isclose(recorded, found, rel_tol=1e-4, abs_tol=1e-6)
    if isinstance(recorded, dict):
        return (
            isinstance(found, dict)
            and recorded.keys() == found.keys()
            and all(is_same(value, found[name]) for name, value in recorded.items())
        )
    if isinstance(recorded, list):
        one, other = _in_order(recorded), _in_order(found)
        return len(one) == len(other) and all(map(is_same, one, other))
    return bool(recorded == found)


def _in_order(found: Sequence[Any]) -> list[Any]:
    if found and all(isinstance(each, dict) and "score" in each for each in found):
        return sorted(found, key=lambda each: (-round(each["score"], 5), str(each["id"])))
    return list(found)


def _decoded(op: str, name: str, value: Any) -> Any:
    wanted = _TYPES.get(name)
    if name == "points":
        wanted = list[qdrant.PointStruct] if op == "upsert" else _SELECTED
    return value if wanted is None else TypeAdapter(wanted).validate_python(value)


def _plain(op: str, found: Any) -> Any:
    if op in _PLAIN:
        return _PLAIN[op](found)
    return found if isinstance(found, bool) else _dumped(found)


def _info(found: qdrant.CollectionInfo) -> dict[str, Any]:
    shown = {
        "status": found.status.value,
        "points_count": found.points_count,
        "params": _dumped(found.config.params),
        "payload_schema": {name: _dumped(each) for name, each in found.payload_schema.items()},
    }
    return shown | ({"metadata": found.config.metadata} if found.config.metadata else {})


def _dumped(found: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = found.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {name: value for name, value in dumped.items() if name not in _LEFT_OUT}


_PLAIN: Mapping[str, Callable[[Any], Any]] = {
    "query_points": lambda found: list(map(_dumped, found.points)),
    "query_batch_points": lambda found: [list(map(_dumped, each.points)) for each in found],
    "retrieve": lambda found: list(map(_dumped, found)),
    "scroll": lambda found: {"points": list(map(_dumped, found[0])), "next": found[1]},
    "count": lambda found: found.count,
    "get_aliases": lambda found: list(map(_dumped, found.aliases)),
    "get_collection_aliases": lambda found: list(map(_dumped, found.aliases)),
    "get_collections": lambda found: sorted(each.name for each in found.collections),
    "get_collection": _info,
    "list_snapshots": lambda found: {"count": len(found), "fields": sorted(_dumped(found[0])) if found else []},
    "create_snapshot": lambda found: {"fields": sorted(_dumped(found))},
}
