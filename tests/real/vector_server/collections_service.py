"""The calls about collections, aliases and snapshots; those left out are refused as not implemented."""

from pathlib import Path
from typing import Any

from qdrant_client import grpc as messages
from qdrant_client.grpc.collections_service_pb2_grpc import CollectionsServicer
from qdrant_client.grpc.snapshots_service_pb2_grpc import SnapshotsServicer

from tests.real.vector_server.refusals import answered, not_served
from tests.real.vector_server.shelf import Shelf, checksum_of
from tests.real.vector_server.stored import Stored

_INDEX_TYPES = {
    messages.FieldType.FieldTypeKeyword: messages.PayloadSchemaType.Keyword,
    messages.FieldType.FieldTypeInteger: messages.PayloadSchemaType.Integer,
    messages.FieldType.FieldTypeUuid: messages.PayloadSchemaType.Uuid,
}


class Collections(CollectionsServicer):
    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    @answered
    def Create(self, request: Any) -> Any:
        self._shelf.create(request)
        return messages.CollectionOperationResponse(result=True)

    @answered
    def Delete(self, request: Any) -> Any:
        return messages.CollectionOperationResponse(result=self._shelf.delete(request.collection_name))

    @answered
    def Get(self, request: Any) -> Any:
        return messages.GetCollectionInfoResponse(result=_info(self._shelf.get(request.collection_name)))

    @answered
    def CollectionExists(self, request: Any) -> Any:
        exists = self._shelf.find(request.collection_name) is not None
        return messages.CollectionExistsResponse(result=messages.CollectionExists(exists=exists))

    @answered
    def List(self, request: Any) -> Any:
        listed = [messages.CollectionDescription(name=name) for name in self._shelf.names()]
        return messages.ListCollectionsResponse(collections=listed)

    @answered
    def UpdateAliases(self, request: Any) -> Any:
        """Not all or nothing: what stands before a refused one is done."""
        for action in request.actions:
            kind = action.WhichOneof("action")
            asked = getattr(action, kind)
            if kind == "create_alias":
                self._shelf.alias(asked.alias_name, asked.collection_name)
            elif kind == "delete_alias":
                self._shelf.unalias(asked.alias_name)
            else:
                self._shelf.rename_alias(asked.old_alias_name, asked.new_alias_name)
        return messages.CollectionOperationResponse(result=True)

    @answered
    def ListAliases(self, request: Any) -> Any:
        return _aliases(self._shelf.aliases)

    @answered
    def ListCollectionAliases(self, request: Any) -> Any:
        chosen = {a: c for a, c in self._shelf.aliases.items() if c == request.collection_name}
        return _aliases(chosen)


class Snapshots(SnapshotsServicer):
    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    @answered
    def Create(self, request: Any) -> Any:
        path = self._shelf.snapshot(request.collection_name)
        return messages.CreateSnapshotResponse(snapshot_description=_described(path))

    @answered
    def List(self, request: Any) -> Any:
        found = [_described(path) for path in self._shelf.snapshots(request.collection_name)]
        return messages.ListSnapshotsResponse(snapshot_descriptions=found)

    @answered
    def Delete(self, request: Any) -> Any:
        self._shelf.delete_snapshot(request.collection_name, request.snapshot_name)
        return messages.DeleteSnapshotResponse()

    @answered
    def CreateFull(self, request: Any) -> Any:
        described = _described(self._shelf.snapshot_all())
        return messages.CreateSnapshotResponse(snapshot_description=described)

    @answered
    def ListFull(self, request: Any) -> Any:
        found = [_described(path) for path in self._shelf.snapshots_of_all()]
        return messages.ListSnapshotsResponse(snapshot_descriptions=found)

    @answered
    def DeleteFull(self, request: Any) -> Any:
        self._shelf.delete_snapshot_of_all(request.snapshot_name)
        return messages.DeleteSnapshotResponse()


def _info(stored: Stored) -> Any:
    created = stored.created
    params = messages.CollectionParams(
        vectors_config=created.vectors_config,
        shard_number=1,
        replication_factor=1,
        write_consistency_factor=1,
        on_disk_payload=True,
    )
    if created.HasField("sparse_vectors_config"):
        params.sparse_vectors_config.CopyFrom(created.sparse_vectors_config)
    config = messages.CollectionConfig(
        params=params,
        hnsw_config=messages.HnswConfigDiff(m=16, ef_construct=100, full_scan_threshold=10_000),
        optimizer_config=messages.OptimizersConfigDiff(
            deleted_threshold=0.2,
            vacuum_min_vector_number=1000,
            default_segment_number=0,
            flush_interval_sec=5,
        ),
        wal_config=messages.WalConfigDiff(wal_capacity_mb=32, wal_segments_ahead=0),
        metadata=created.metadata,
    )
    for name in ("hnsw_config", "wal_config"):
        getattr(config, name).MergeFrom(getattr(created, name))
    config.optimizer_config.MergeFrom(created.optimizers_config)
    schema = {each.field_name: _schema(each) for each in stored.indexes()}
    return messages.CollectionInfo(
        status=messages.CollectionStatus.Green,
        optimizer_status=messages.OptimizerStatus(ok=True),
        segments_count=stored.shard.info().segments_count,
        config=config,
        payload_schema=schema,
        points_count=stored.count(),
    )


def _schema(index: Any) -> Any:
    if index.field_type not in _INDEX_TYPES:
        raise not_served(f"an index of kind {index.field_type}")
    return messages.PayloadSchemaInfo(
        data_type=_INDEX_TYPES[index.field_type],
        params=index.field_index_params if index.HasField("field_index_params") else None,
    )


def _aliases(aliases: dict[str, str]) -> Any:
    described = [messages.AliasDescription(alias_name=a, collection_name=c) for a, c in aliases.items()]
    return messages.ListAliasesResponse(aliases=described)


def _described(path: Path) -> Any:
    status = path.stat()
    described = messages.SnapshotDescription(name=path.name, size=status.st_size, checksum=checksum_of(path))
    described.creation_time.FromSeconds(int(status.st_mtime))
    return described
