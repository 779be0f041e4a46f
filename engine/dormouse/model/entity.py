"""An entity: somebody or something that passages of one dataset mention, and how it relates to others."""

from dataclasses import dataclass

from dormouse.ids import DatasetId, EntityId, PassageId


@dataclass(frozen=True, slots=True)
class Entity:
    """`folded` is the casefolded, accent-kept key under which spellings meet; `kind` is "thing" by default."""

    id: EntityId
    dataset: DatasetId
    name: str
    folded: str
    kind: str = "thing"


@dataclass(frozen=True, slots=True)
class Mention:
    entity: EntityId
    passage: PassageId


@dataclass(frozen=True, slots=True)
class Relation:
    """`source` is related to `target` as `name` says; known since `passage` mentions one of them."""

    source: EntityId
    name: str
    target: EntityId
    passage: PassageId
