"""The calls about points; those left out are refused as not implemented."""

from typing import Any

import qdrant_edge as edge
from qdrant_client import grpc as messages
from qdrant_client.conversions.conversion import grpc_to_payload
from qdrant_client.grpc.points_service_pb2_grpc import PointsServicer

from tests.real.vector_server import incoming, outgoing
from tests.real.vector_server.refusals import answered, invalid, not_served, unknown
from tests.real.vector_server.shelf import Shelf
from tests.real.vector_server.stored import Stored

TIES_DRAWN = 16  # beyond the limit, so that it cuts through equal ones in any way


class Points(PointsServicer):
    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    @answered
    def Upsert(self, request: Any) -> Any:
        stored = self._shelf.get(request.collection_name)
        points = incoming.points_of(request.points, stored.shapes)
        guard = incoming.filter_of(request.update_filter) if request.HasField("update_filter") else None
        mode = incoming.update_mode(request)
        stored.update(edge.UpdateOperation.upsert_points(points, guard, mode), len(points))
        return _updated(request)

    @answered
    def Delete(self, request: Any) -> Any:
        stored = self._shelf.get(request.collection_name)
        chosen = _chosen(request.points)
        if isinstance(chosen, edge.Filter):
            operation = edge.UpdateOperation.delete_points_by_filter(chosen)
        else:
            operation = edge.UpdateOperation.delete_points(chosen)
        stored.update(operation, is_deletion=True)
        return _updated(request)

    @answered
    def SetPayload(self, request: Any) -> Any:
        stored = self._shelf.get(request.collection_name)
        key = request.key if request.HasField("key") else None
        payload = grpc_to_payload(request.payload)
        chosen = _chosen(request.points_selector)
        if isinstance(chosen, edge.Filter):
            stored.update(edge.UpdateOperation.set_payload_by_filter(chosen, payload, key))
            return _updated(request)
        with stored.turn:
            there = {str(record.id) for record in stored.shard.retrieve(chosen, False, False)}
            present = [each for each in chosen if str(each) in there]
            if present:
                stored.update(edge.UpdateOperation.set_payload(present, payload, key))
        for missing in (each for each in chosen if each not in present):
            raise unknown(f"No point with id {missing} found")
        return _updated(request)

    @answered
    def CreateFieldIndex(self, request: Any) -> Any:
        self._shelf.get(request.collection_name).index(request)
        return _updated(request)

    @answered
    def Get(self, request: Any) -> Any:
        stored = self._shelf.get(request.collection_name)
        ids = list(dict.fromkeys(incoming.id_of(each) for each in request.ids))
        shown = incoming.payload_selector(request, "with_payload", default=True)
        vectors = incoming.vector_selector(request, stored.shapes)
        with stored.turn:
            records = stored.shard.retrieve(ids, shown, vectors)
        by_id = {str(record.id): record for record in records}
        found = [by_id[str(id_)] for id_ in ids if str(id_) in by_id]
        return messages.GetResponse(result=outgoing.retrieved(found))

    @answered
    def Scroll(self, request: Any) -> Any:
        if request.HasField("order_by"):
            raise not_served("order_by")
        stored = self._shelf.get(request.collection_name)
        asked = edge.ScrollRequest(
            offset=incoming.id_of(request.offset) if request.HasField("offset") else None,
            limit=incoming.limit_of(request),
            filter=incoming.filter_of(request.filter) if request.HasField("filter") else None,
            with_payload=incoming.payload_selector(request, "with_payload", default=True),
            with_vector=incoming.vector_selector(request, stored.shapes),
        )
        with stored.turn:
            records, following = stored.shard.scroll(asked)
        offset = None if following is None else outgoing.id_message(following)
        return messages.ScrollResponse(result=outgoing.retrieved(records), next_page_offset=offset)

    @answered
    def Count(self, request: Any) -> Any:
        stored = self._shelf.get(request.collection_name)
        chosen = incoming.filter_of(request.filter) if request.HasField("filter") else None
        return messages.CountResponse(result=messages.CountResult(count=stored.count(chosen)))

    @answered
    def Query(self, request: Any) -> Any:
        stored = self._shelf.get(request.collection_name)
        with stored.turn:
            return messages.QueryResponse(result=_found(stored, request))

    @answered
    def QueryBatch(self, request: Any) -> Any:
        stored = self._shelf.get(request.collection_name)
        with stored.turn:
            answers = [_found(stored, each) for each in request.query_points]
        return messages.QueryBatchResponse(result=[messages.BatchResult(result=each) for each in answers])


def _found(stored: Stored, request: Any) -> list[Any]:
    limit = incoming.limit_of(request)
    query = incoming.query_of(request, stored.shapes)
    shown = incoming.payload_selector(request, "with_payload", default=False)
    vectors = incoming.vector_selector(request, stored.shapes)
    chosen = incoming.filter_of(request.filter) if request.HasField("filter") else None
    if query is None:
        if request.offset:
            raise not_served("an offset without a query")
        asked = edge.ScrollRequest(limit=limit, filter=chosen, with_payload=shown, with_vector=vectors)
        return outgoing.unscored(stored.shard.scroll(asked)[0])
    hits = stored.shard.query(
        edge.QueryRequest(
            limit=limit + TIES_DRAWN,
            offset=request.offset,
            query=query,
            filter=chosen,
            with_payload=shown,
            with_vector=vectors,
            score_threshold=request.score_threshold if request.HasField("score_threshold") else None,
            params=incoming.search_params(request),
        )
    )
    return outgoing.scored(hits, limit)


def _chosen(selector: Any) -> edge.Filter | list[incoming.PointId]:
    if selector.WhichOneof("points_selector_one_of") == "filter":
        return incoming.filter_of(selector.filter)
    if not selector.points.ids:
        raise invalid("Bad request: Empty update request")
    return [incoming.id_of(each) for each in selector.points.ids]


def _updated(request: Any) -> Any:
    status = messages.UpdateStatus.Completed if request.wait else messages.UpdateStatus.Acknowledged
    return messages.PointsOperationResponse(result=messages.UpdateResult(operation_id=0, status=status))
