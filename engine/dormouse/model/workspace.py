"""A workspace: one graph, one vector collection, one order of changes."""

from dataclasses import dataclass

from dormouse.ids import WorkspaceId


@dataclass(frozen=True, slots=True)
class Collection:
    """The vector collection in use and the model that filled it; another model means a migration."""

    name: str
    model: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Workspace:
    """`collection` answers recalls; `building` is filled beside it, to take its place."""

    id: WorkspaceId
    name: str
    collection: Collection | None
    building: Collection | None
    not_before_ms: int
    parked_reason: str | None
    created_ms: int
