"""GET /api/v1/datasets/{id}/graph: nodes and edges of one dataset, a bounded page at a time.

A page is some passages in reading order with everything that hangs on them: their documents, the entities they
mention and the memories drawn from them. A node that comes again on a later page has the same id.
Source: contract-graph, "REST"; recorded case graph.
"""

from collections.abc import Iterator
from typing import Any

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.ids import DocumentId
from dormouse.model.document import Document
from dormouse.model.entity import Entity
from dormouse.model.graph_page import GraphPage
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.model.scope import Permission
from dormouse_gateway.contracts.graph.rest.call import Call, Served, answer
from dormouse_gateway.contracts.graph.rest.datasets import DATASET
from dormouse_gateway.web.instants import iso_or_none
from dormouse_gateway.web.operation import Answer, Operation
from dormouse_gateway.web.pagination import (
    CURSOR,
    NEXT_CURSOR,
    NEXT_HEADER,
    cursor_of,
    limit_of,
    limit_parameter,
    position_of,
)

MOST = 500


class NodeView(TypedDict):
    """`type` is TextDocument, DocumentChunk, Entity, Fact, Episode or Foresight."""

    id: str
    label: str
    type: str
    properties: dict[str, Any]


class EdgeView(TypedDict):
    """`label` is is_part_of, follows, contains, made_from, mentions, or a relation's own name such as is_a."""

    source: str
    target: str
    label: str


class GraphView(TypedDict):
    nodes: list[NodeView]
    edges: list[EdgeView]


READ_GRAPH = Operation(
    "Nodes and edges of one dataset",
    "datasets",
    {200: Answer("A page: passages with everything that hangs on them.", GraphView, headers=(NEXT_CURSOR,))},
    parameters=(DATASET, limit_parameter(default=100, most=MOST), CURSOR),
)


async def read_graph(call: Call) -> Response:
    """`limit` counts passages."""
    query = call.request.query_params
    limit, after = limit_of(query, default=100, most=MOST), position_of(query, (str, int))
    place = (DocumentId(str(after[0])), int(after[1])) if after else None
    dataset = await call.engine.dataset_named(
        call.scope, call.request.path_params["dataset"], permission=Permission.READ
    )
    page = await call.engine.graph_of(call.scope, dataset.id, after=place, limit=limit)
    more = {NEXT_HEADER: cursor_of(page.following)} if page.following else {}
    return answer(graph_view(page), headers=more)


def graph_view(page: GraphPage) -> GraphView:
    entities = {entity.id: entity for entity, _ in page.mentions}
    nodes = [
        *map(_document_node, page.documents),
        *map(_passage_node, page.passages),
        *map(_entity_node, entities.values()),
        *map(_memory_node, page.memories),
    ]
    return {"nodes": nodes, "edges": list(_edges(page))}


def _edges(page: GraphPage) -> Iterator[EdgeView]:
    for passage in page.passages:
        yield _edge(passage.id, passage.document, "is_part_of")
        if passage.previous:
            yield _edge(passage.id, passage.previous[0], "follows")
    for entity, passage_id in page.mentions:
        yield _edge(passage_id, entity.id, "contains")
    for relation in page.relations:
        yield _edge(relation.source, relation.target, relation.name)
    for memory in page.memories:
        yield _edge(memory.id, memory.passage, "made_from")
        for named in memory.entities:
            yield _edge(memory.id, named, "mentions")


def _edge(source: str, target: str, label: str) -> EdgeView:
    return {"source": source, "target": target, "label": label}


def _document_node(document: Document) -> NodeView:
    return {
        "id": document.id,
        "label": document.name,
        "type": "TextDocument",
        "properties": {"external_id": document.external_id, "revision": document.newest_revision},
    }


def _passage_node(passage: Passage) -> NodeView:
    return {
        "id": passage.id,
        "label": f"DocumentChunk_{passage.id}",
        "type": "DocumentChunk",
        "properties": {
            "text": passage.text,
            "heading": passage.heading,
            "speaker": passage.speaker,
            "chunk_index": passage.order,
            "document_id": passage.document,
            "document_name": passage.document_name,
            "occurred_at": iso_or_none(passage.occurred_ms),
        },
    }


def _entity_node(entity: Entity) -> NodeView:
    return {"id": entity.id, "label": entity.name, "type": "Entity", "properties": {"kind": entity.kind}}


def _memory_node(memory: MemoryVersion) -> NodeView:
    valid = memory.valid
    return {
        "id": memory.id,
        "label": memory.content,
        "type": memory.kind.value.title(),
        "properties": {
            "memory_id": memory.memory,
            "quote": memory.quote,
            "confidence": memory.confidence,
            "valid_from": iso_or_none(valid.start_ms if valid.has_start else None),
            "valid_until": iso_or_none(valid.end_ms if valid.has_end else None),
        },
    }


ROUTES = (Served("GET", "/datasets/{dataset}/graph", read_graph, READ_GRAPH),)
