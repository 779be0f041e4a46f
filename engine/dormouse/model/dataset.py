"""A dataset: the unit of sharing, of forgetting at once, and of term statistics."""

from dataclasses import dataclass

from dormouse.ids import DatasetId, PrincipalId, WorkspaceId

MAX_NAME_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Dataset:
    """`generation` is raised by every forget of the whole dataset; lower ones are invisible from then on.

    `listed` is false from a forget until something is remembered again: the row outlives what it counts.
    """

    id: DatasetId
    workspace: WorkspaceId
    owner: PrincipalId
    name: str
    generation: int
    listed: bool
    created_ms: int
    updated_ms: int


@dataclass(frozen=True, slots=True)
class DatasetSummary:
    """`unfinished_jobs` are all that have not ended, forgets and enrichment among them; `staged` are the
    documents whose newest revision waits to be taken up."""

    dataset: Dataset
    documents: int
    passages: int
    unfinished_jobs: int
    staged: int = 0
