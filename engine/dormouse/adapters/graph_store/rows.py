"""Between the graph's records and rows: columns in one order, their values text, numbers or None; no I/O."""

import json
from collections.abc import Sequence
from typing import Any

from dormouse.ids import DatasetId, DocumentId, EntityId, MemoryId, PassageId, VersionId, WorkspaceId
from dormouse.model.entity import Entity
from dormouse.model.interval import Interval
from dormouse.model.memory import Basis, Claim, MemoryKind, MemoryVersion, SourceKind
from dormouse.model.passage import Passage, PassageKind, Precision
from dormouse.ports.graph_store import GraphRows

Row = Sequence[Any]  # what a driver returns: text, integers, floats and None

PASSAGE_COLUMNS = (
    "id", "workspace", "dataset", "document", "dataset_generation", "first_revision", "last_revision", "kind",
    "position", "session", "text", "heading", "previous", "speaker", "role", "language", "occurred_ms",
    "offset_minutes", "precision", "external_id", "document_name",
)  # fmt: skip
ENTITY_COLUMNS = ("id", "dataset", "name", "folded", "kind")
VERSION_COLUMNS = (
    "id", "memory", "kind", "dataset", "document", "passage", "dataset_generation", "content", "quote",
    "source", "confidence", "valid_start_ms", "valid_end_ms", "valid_basis", "about_start_ms", "about_end_ms",
    "precision", "transaction_start_ms", "transaction_end_ms", "entities", "claim_subject", "claim_predicate",
    "claim_object", "derived_by",
)  # fmt: skip

_KINDS = {kind.value: kind for kind in PassageKind}
_PRECISIONS: dict[str | None, Precision | None] = {None: None, **{one.value: one for one in Precision}}


def row_of_passage(passage: Passage, seq: int) -> tuple[Any, ...]:
    return (
        passage.id, passage.workspace, passage.dataset, passage.document, passage.dataset_generation,
        passage.first_revision, passage.last_revision, passage.kind.value, passage.order, passage.session,
        passage.text, passage.heading, "\n".join(passage.previous), passage.speaker, passage.role,
        passage.language, passage.occurred_ms, passage.offset_minutes, passage.precision,
        passage.external_id, passage.document_name, seq,
    )  # fmt: skip


def passage_of_row(row: Row) -> Passage:
    """By position: three hundred of these are made for every recall, and keywords cost a third more."""
    previous = tuple(row[12].split("\n")) if row[12] else ()
    return Passage(
        row[0], row[1], row[2], row[3], row[4], row[5], row[6], _KINDS[row[7]], row[8], row[9], row[10],
        row[11], previous, row[13], row[14], row[15], row[16], row[17], _PRECISIONS[row[18]], row[19], row[20],
    )  # fmt: skip


def mentions_of(rows: GraphRows) -> list[tuple[EntityId, PassageId]]:
    """Told and implied: a memory's entities count as mentioned by its passage, or forgetting another one could
    take them."""
    mentions = {(one.entity, one.passage) for one in rows.mentions}
    mentions |= {(entity, one.passage) for one in rows.versions for entity in one.entities}
    mentions |= {(entity, one.passage) for one in rows.relations for entity in (one.source, one.target)}
    return sorted(mentions)


def row_of_entity(entity: Entity, workspace: WorkspaceId, seq: int) -> tuple[Any, ...]:
    return (entity.id, entity.dataset, entity.name, entity.folded, entity.kind, workspace, seq)


def entity_of_row(row: Row) -> Entity:
    return Entity(EntityId(row[0]), DatasetId(row[1]), row[2], row[3], row[4])


def row_of_version(version: MemoryVersion, workspace: WorkspaceId, seq: int) -> tuple[Any, ...]:
    about = (version.about.start_ms, version.about.end_ms) if version.about else (None, None)
    return (
        version.id, version.memory, version.kind.value, version.dataset, version.document, version.passage,
        version.dataset_generation, version.content, version.quote, version.source.value, version.confidence,
        version.valid.start_ms, version.valid.end_ms, version.valid_basis.value, *about, version.precision,
        version.transaction.start_ms, version.transaction.end_ms, json.dumps(version.entities),
        *_claim(version), version.derived_by, workspace, seq,
    )  # fmt: skip


def version_of_row(row: Row) -> MemoryVersion:
    return MemoryVersion(
        id=VersionId(row[0]),
        memory=MemoryId(row[1]),
        kind=MemoryKind(row[2]),
        dataset=DatasetId(row[3]),
        document=DocumentId(row[4]),
        passage=PassageId(row[5]),
        dataset_generation=row[6],
        content=row[7],
        quote=row[8],
        source=SourceKind(row[9]),
        confidence=row[10],
        valid=Interval(row[11], row[12]),
        valid_basis=Basis(row[13]),
        about=None if row[14] is None else Interval(row[14], row[15]),
        precision=_PRECISIONS[row[16]],
        transaction=Interval(row[17], row[18]),
        entities=tuple(json.loads(row[19])),
        claim=None if row[20] is None else Claim(row[20], row[21], row[22]),
        derived_by=row[23],
    )


def _claim(version: MemoryVersion) -> tuple[str | None, str | None, str | None]:
    claim = version.claim
    return (claim.subject, claim.predicate, claim.object) if claim else (None, None, None)
