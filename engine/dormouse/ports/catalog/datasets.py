"""Catalog concern: datasets and their generations."""

from collections.abc import Collection, Sequence
from typing import Protocol

from dormouse.ids import DatasetId, PrincipalId, WorkspaceId
from dormouse.model.dataset import Dataset, DatasetSummary


class DatasetRegister(Protocol):
    """Datasets, their owners and their generations."""

    async def ensure(self, workspace: WorkspaceId, owner: PrincipalId, name: str) -> Dataset:
        """The owner's dataset of this name, made or listed again if needed."""
        ...

    async def get(self, dataset: DatasetId) -> Dataset:
        """Also an unlisted one. Raises `NotFoundError`."""
        ...

    async def owned_by(self, workspace: WorkspaceId, owner: PrincipalId) -> Sequence[Dataset]:
        """All, unlisted ones too, by name."""
        ...

    async def of_workspace(self, workspace: WorkspaceId) -> frozenset[DatasetId]:
        """Whoever owns them, unlisted ones too: for upkeep, never to answer anybody."""
        ...

    async def many(self, datasets: Collection[DatasetId]) -> Sequence[Dataset]: ...

    async def summaries(self, datasets: Collection[DatasetId]) -> Sequence[DatasetSummary]:
        """With what each holds in its current generation, by name.

        A forget under way counts as unfinished, like any other work that was accepted.
        """
        ...

    async def forget(self, dataset: DatasetId) -> Dataset:
        """Raise the generation by one and unlist it; returns the new row."""
        ...

    async def touch(self, dataset: DatasetId) -> None:
        """Note that its content changed now."""
        ...
