"""One collection on disk: what it was created with, its indexes, and a shard with its write-ahead log.

The folder appears under its name only when it is whole. What a call answered survives SIGKILL.
"""

import shutil
import threading
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import qdrant_edge as edge
from qdrant_client import grpc as messages

from tests.real.vector_server.refusals import check_path, invalid, not_served

OPTIMISE_EVERY = 2000  # points written; the real server does it beside the calls
_DISTANCES = {
    messages.Distance.Cosine: edge.Distance.Cosine,
    messages.Distance.Euclid: edge.Distance.Euclid,
    messages.Distance.Dot: edge.Distance.Dot,
    messages.Distance.Manhattan: edge.Distance.Manhattan,
}
_DATATYPES = {
    messages.Datatype.Default: None,
    messages.Datatype.Float32: edge.VectorStorageDatatype.Float32,
    messages.Datatype.Float16: edge.VectorStorageDatatype.Float16,
}


class Stored:
    """`shapes` has the size of each dense vector, and None for each sparse one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.turn = threading.RLock()
        self.created = messages.CreateCollection.FromString((folder / "collection.bin").read_bytes())
        self.shapes: dict[str, int | None] = {
            name: params.size for name, params in self.created.vectors_config.params_map.map.items()
        }
        self.shapes |= dict.fromkeys(self.created.sparse_vectors_config.map)
        self.shard = edge.EdgeShard.load(str(folder / "shard"), _config(self.created))
        self._unpacked = 0

    @classmethod
    def create(cls, folder: Path, request: Any) -> Self:
        config = _config(request)
        draft = folder.with_name(f".{folder.name}")
        shutil.rmtree(draft, ignore_errors=True)
        (draft / "shard").mkdir(parents=True)
        edge.EdgeShard.create(str(draft / "shard"), config).close()
        (draft / "collection.bin").write_bytes(request.SerializeToString())
        (draft / "indexes").mkdir()
        draft.rename(folder)
        return cls(folder)

    def update(self, operation: edge.UpdateOperation, points: int = 0, *, is_deletion: bool = False) -> None:
        with self.turn:
            self.shard.update(operation)
            self._unpacked += points
            if is_deletion or self._unpacked >= OPTIMISE_EVERY:
                self.shard.optimize()
                self._unpacked = 0

    def index(self, request: Any) -> None:
        """The same twice is no error; another type takes the place of the former."""
        if not request.field_name:
            rule = 'value "" invalid, must be at least 1 characters'
            raise invalid(f"Validation error in body: [field_name: {rule}]")
        check_path(request.field_name)
        self.update(edge.UpdateOperation.create_field_index(request.field_name, _index_params(request)))
        (self.folder / "indexes" / quote(request.field_name, safe="")).write_bytes(request.SerializeToString())

    def indexes(self) -> list[Any]:
        files = sorted((self.folder / "indexes").iterdir())
        return [messages.CreateFieldIndexCollection.FromString(file.read_bytes()) for file in files]

    def count(self, chosen: edge.Filter | None = None) -> int:
        with self.turn:
            return self.shard.count(edge.CountRequest(exact=True, filter=chosen))

    def close(self) -> None:
        with self.turn:
            self.shard.close()


def _config(request: Any) -> edge.EdgeConfig:
    if request.vectors_config.HasField("params"):
        raise not_served("a vector without a name")
    if request.HasField("quantization_config") or request.HasField("strict_mode_config"):
        raise not_served("quantisation or strict mode")
    dense, sparse = request.vectors_config.params_map.map, request.sparse_vectors_config.map
    for name in set(dense) & set(sparse):
        raise invalid(
            f"Wrong input: Dense and sparse vector names must be unique - duplicate found with '{name}'"
        )
    if not dense and not sparse:
        raise not_served("points without vectors")
    hnsw, optimizers = request.hnsw_config, request.optimizers_config
    return edge.EdgeConfig(
        vectors={name: _dense(params) for name, params in dense.items()},
        sparse_vectors={name: _sparse(params) for name, params in sparse.items()},
        hnsw_config=edge.HnswIndexConfig(
            m=hnsw.m if hnsw.HasField("m") else 16,
            ef_construct=hnsw.ef_construct or 100,
            full_scan_threshold=hnsw.full_scan_threshold or 10_000,
            payload_m=hnsw.payload_m if hnsw.HasField("payload_m") else None,
        ),
        optimizers=edge.EdgeOptimizersConfig(
            **{name: getattr(optimizers, name) for name in _OPTIMIZERS if optimizers.HasField(name)}
        ),
    )


_OPTIMIZERS = (
    "deleted_threshold",
    "vacuum_min_vector_number",
    "default_segment_number",
    "max_segment_size",
    "indexing_threshold",
)


def _dense(params: Any) -> edge.EdgeVectorParams:
    given = {field.name for field, _ in params.ListFields()}
    if given - {"size", "distance", "datatype", "on_disk"}:
        raise not_served(f"a vector with {sorted(given)}")
    if not 1 <= params.size <= 65_536:
        rule = f"value {params.size} invalid, must be from 1 to 65536"
        raise invalid(f"Validation error in body: [vectors_config.config.map.[].size: {rule}]")
    return edge.EdgeVectorParams(
        size=params.size, distance=_DISTANCES[params.distance], datatype=_DATATYPES[params.datatype]
    )


def _sparse(params: Any) -> edge.EdgeSparseVectorParams:
    threshold = params.index.full_scan_threshold if params.index.HasField("full_scan_threshold") else None
    is_weighted = params.modifier == messages.Modifier.Idf
    return edge.EdgeSparseVectorParams(
        full_scan_threshold=threshold, modifier=edge.Modifier.Idf if is_weighted else None
    )


def _index_params(request: Any) -> Any:
    params, kind = request.field_index_params, request.field_type
    if kind == messages.FieldType.FieldTypeKeyword:
        return edge.KeywordIndexParams(is_tenant=params.keyword_index_params.is_tenant)
    if kind == messages.FieldType.FieldTypeUuid:
        return edge.UuidIndexParams(is_tenant=params.uuid_index_params.is_tenant)
    if kind == messages.FieldType.FieldTypeInteger:
        given = params.integer_index_params
        lookup = given.lookup if given.HasField("lookup") else True
        ranges = given.range if given.HasField("range") else True
        if not lookup and not ranges:
            rule = "Validation error: the 'lookup' and 'range' capabilities can't be both disabled [{}]"
            raise invalid(f"Validation error in body: [field_index_params.index_params.lookup: {rule}]")
        return edge.IntegerIndexParams(lookup=lookup, range=ranges)
    raise not_served(f"an index of kind {messages.FieldType.Name(kind)}")
