"""Records to rows of an export. Pure."""

import base64
from collections.abc import Mapping

from dormouse.ids import DatasetId, TermId
from dormouse.model.dataset import Dataset
from dormouse.model.document import Document
from dormouse.model.entity import Entity, Mention, Relation
from dormouse.model.export import ExportRow, RowKey, RowKind
from dormouse.model.interval import Interval
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage, PassageVectors, Point

DIGITS = 5  # of a vector's numbers: stores keep less than four


def of_dataset(dataset: Dataset) -> ExportRow:
    body = {"id": dataset.id, "name": dataset.name, "owner": dataset.owner}
    return ExportRow(RowKind.DATASET, RowKey(dataset.id, 0, "", 0, 0, ""), body)


def of_document(document: Document) -> ExportRow:
    body = {
        "id": document.id,
        "dataset": document.dataset,
        "name": document.name,
        "external_id": document.external_id,
        "revision": document.searchable_revision,
        "created_ms": document.created_ms,
        "updated_ms": document.updated_ms,
    }
    return ExportRow(RowKind.DOCUMENT, RowKey(document.dataset, 1, document.id, 0, 0, ""), body)


def of_passage(
    passage: Passage, following: Passage | None, point: Point | None, *, has_vectors: bool
) -> ExportRow:
    """`following` is the next of its document; it is named only where the same session goes on."""
    is_next = following is not None and following.session == passage.session
    body: dict[str, object] = {
        "id": passage.id,
        "document": passage.document,
        "document_name": passage.document_name,
        "external_id": passage.external_id,
        "kind": passage.kind.value,
        "order": passage.order,
        "session": passage.session,
        "heading": passage.heading,
        "text": passage.text,
        "speaker": passage.speaker,
        "role": passage.role,
        "language": passage.language,
        "occurred_ms": passage.occurred_ms,
        "offset_minutes": passage.offset_minutes,
        "precision": passage.precision.value if passage.precision else None,
        "previous": list(passage.previous),
        "next": following.id if following is not None and is_next else None,
        "first_revision": passage.first_revision,
        "last_revision": passage.last_revision,
    }
    if has_vectors:
        body["vectors"] = None if point is None else _vectors(point.vectors)
    key = RowKey(passage.dataset, 1, passage.document, 1, passage.order, passage.id)
    return ExportRow(RowKind.PASSAGE, key, body)


def of_version(version: MemoryVersion, point: Point | None = None) -> ExportRow:
    """With the vectors of the point that it is found by, where it has one of its own."""
    body: dict[str, object] = {
        "id": version.id,
        "memory": version.memory,
        "kind": version.kind.value,
        "document": version.document,
        "passage": version.passage,
        "content": version.content,
        "quote": version.quote,
        "source": version.source.value,
        "confidence": version.confidence,
        "valid": _interval(version.valid),
        "valid_basis": version.valid_basis.value,
        "about": None if version.about is None else _interval(version.about),
        "precision": version.precision.value if version.precision else None,
        "transaction": _interval(version.transaction),
        "entities": list(version.entities),
        "claim": version.claim and [version.claim.subject, version.claim.predicate, version.claim.object],
        "derived_by": version.derived_by,
    }
    if point is not None:
        body["vectors"] = _vectors(point.vectors)
    key = RowKey(version.dataset, 1, version.document, 2, 0, f"{version.memory} {version.id}")
    return ExportRow(RowKind.MEMORY, key, body)


def of_entity(entity: Entity) -> ExportRow:
    body = {"id": entity.id, "name": entity.name, "kind": entity.kind}
    return ExportRow(RowKind.ENTITY, RowKey(entity.dataset, 2, entity.id, 0, 0, ""), body)


def of_mention(dataset: DatasetId, mention: Mention) -> ExportRow:
    body = {"entity": mention.entity, "passage": mention.passage}
    return ExportRow(RowKind.MENTION, RowKey(dataset, 3, mention.entity, 0, 0, mention.passage), body)


def of_relation(dataset: DatasetId, relation: Relation) -> ExportRow:
    body = {
        "source": relation.source,
        "name": relation.name,
        "target": relation.target,
        "passage": relation.passage,
    }
    behind = "\0".join((relation.name, relation.target, relation.passage))
    return ExportRow(RowKind.RELATION, RowKey(dataset, 4, relation.source, 0, 0, behind), body)


def of_total(dataset: DatasetId, passages: int) -> ExportRow:
    return ExportRow(RowKind.TERMS, RowKey(dataset, 5, "", 0, 0, ""), {"passages": passages})


def of_term(dataset: DatasetId, term: TermId, passages: int) -> ExportRow:
    body = {"term": int(term), "passages": passages}
    return ExportRow(RowKind.TERM, RowKey(dataset, 5, "", 1, int(term), ""), body)


def _interval(interval: Interval) -> list[int | None]:
    return [
        interval.start_ms if interval.has_start else None,
        interval.end_ms if interval.has_end else None,
    ]


def _vectors(vectors: PassageVectors) -> dict[str, object]:
    return {
        "dense": [round(float(number), DIGITS) for number in vectors.dense],
        "tokens": base64.b64encode(vectors.tokens).decode("ascii"),
        "terms": _weights(vectors.terms),
        "window_terms": _weights(vectors.window_terms),
    }


def _weights(weights: Mapping[TermId, float]) -> dict[str, float]:
    return {str(term): round(weights[term], DIGITS) for term in sorted(weights)}
