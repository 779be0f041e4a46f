"""How a collection on a Qdrant server is laid out, and what is kept with it of the model that filled it.

- No graph over the dense vectors (`m` 0): every dense search is exact inside its filter, so points that may
  not be read cannot steer it. No IDF: it counts unreadable and deleted points.
- A segment is rewritten as soon as anything in it was deleted, and the write-ahead log is small, so that what
  was erased leaves the files soon. The server allows no fewer than 100 points for a rewriting.
"""

from collections.abc import Mapping

import grpc
from qdrant_client import models

from dormouse.adapters.vector_store.qdrant_calls import QdrantCalls, assert_written, translated
from dormouse.adapters.vector_store.rows import DENSE, TERMS, WINDOW
from dormouse.model.workspace import Collection

_INDEXES: Mapping[str, models.PayloadSchemaType | models.UuidIndexParams | models.IntegerIndexParams] = {
    # UUIDs compare as numbers: at 100,000 points a filter on a keyword costs three times as much.
    "dataset": models.UuidIndexParams(type=models.UuidIndexType.UUID, is_tenant=True),
    "document": models.UuidIndexParams(type=models.UuidIndexType.UUID),
    "session": models.PayloadSchemaType.KEYWORD,
    "occurred": models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=False, range=True),
}
# 1: always by the index. By default a small segment is scanned, five times slower.
_SPARSE = models.SparseVectorParams(index=models.SparseIndexParams(full_scan_threshold=1))


async def made(calls: QdrantCalls, name: str, collection: Collection) -> None:
    """Whoever else made it meanwhile made the same, or whoever opens it finds out."""
    dense = models.VectorParams(
        size=collection.dimension, distance=models.Distance.COSINE, datatype=models.Datatype.FLOAT16
    )
    with translated():
        try:
            await calls.client.create_collection(
                name,
                vectors_config={DENSE: dense},
                sparse_vectors_config={TERMS: _SPARSE, WINDOW: _SPARSE},
                hnsw_config=models.HnswConfigDiff(m=0, payload_m=0),
                optimizers_config=models.OptimizersConfigDiff(
                    deleted_threshold=0.0, vacuum_min_vector_number=100, default_segment_number=2
                ),
                wal_config=models.WalConfigDiff(wal_capacity_mb=1, wal_segments_ahead=0),
                metadata={"model": collection.model, "dimension": collection.dimension},
            )
        except grpc.aio.AioRpcError as exc:
            if exc.code() is not grpc.StatusCode.ALREADY_EXISTS:
                raise


async def completed(calls: QdrantCalls, name: str, info: models.CollectionInfo) -> None:
    """A crash may have come between the collection and its indexes."""
    for field in sorted(_INDEXES.keys() - info.payload_schema.keys()):
        with translated():
            assert_written(await calls.client.create_payload_index(name, field, _INDEXES[field]))


def recorded(info: models.CollectionInfo | None) -> tuple[str, int] | None:
    """Model and dimension; None of what is missing or none of ours."""
    metadata = (info.config.metadata or {}) if info is not None else {}
    if not {"model", "dimension"} <= metadata.keys():
        return None
    return str(metadata["model"]), int(metadata["dimension"])
