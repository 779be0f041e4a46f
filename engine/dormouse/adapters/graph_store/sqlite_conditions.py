"""Between the graph's records and the rows of its tables; no I/O."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from dormouse.ids import DatasetId, DocumentId, EntityId, MemoryId, PassageId, VersionId, WorkspaceId
from dormouse.model.change import Erasure
from dormouse.model.entity import Entity
from dormouse.model.interval import Interval
from dormouse.model.memory import Basis, Claim, MemoryKind, MemoryVersion, SourceKind
from dormouse.model.passage import Passage, PassageKind, Precision
from dormouse.model.scope import Scope

Row = Sequence[Any]  # what the driver returns: text, integers, floats and None

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


def condition_of(what: Erasure) -> str:
    """The passages an erasure means, over the parameters of `parameters_of`."""
    if what.document is None:
        return "dataset = :dataset AND dataset_generation < :below_generation"
    one = "dataset = :dataset AND document = :document"
    if what.last_revision_below is not None:
        return f"{one} AND last_revision < :last_revision_below"
    if what.first_revision is not None:
        # A repeated erasure must spare what a retry of the failed job wrote under the same revision.
        return f"{one} AND first_revision = :first_revision AND (:seq IS NULL OR seq <= :seq)"
    return one


def wide_condition_of(what: Erasure) -> str:
    """The versions an erasure means whether or not their passage is there; none if it goes by revisions."""
    by_revision = what.last_revision_below is not None or what.first_revision is not None
    return "0" if by_revision else condition_of(what)


def parameters_of(what: Erasure, seq: int | None = None) -> dict[str, Any]:
    return {
        "seq": seq,
        "dataset": what.dataset,
        "document": what.document,
        "below_generation": what.below_generation,
        "last_revision_below": what.last_revision_below,
        "first_revision": what.first_revision,
    }


def seen_by(scope: Scope) -> dict[str, Any]:
    """The parameters that every read has."""
    return {"workspace": scope.workspace, "readable": array(scope.readable)}


def pairs(of: Collection[tuple[str, str]]) -> str:
    return json.dumps(sorted(of))


def array(ids: Collection[str]) -> str:
    return json.dumps(list(ids))
