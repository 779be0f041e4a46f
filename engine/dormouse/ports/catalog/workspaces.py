"""Catalog concern: workspaces and the apply lease of each."""

from collections.abc import Sequence
from typing import Protocol

from dormouse.ids import WorkspaceId
from dormouse.model.change import ApplyLease
from dormouse.model.workspace import Collection, Workspace


class WorkspaceRegister(Protocol):
    """Workspaces, the collection each uses, and the lease under which its changes are applied."""

    async def ensure(self, workspace: WorkspaceId, name: str) -> Workspace:
        """The workspace, made if it is new."""
        ...

    async def get(self, workspace: WorkspaceId) -> Workspace:
        """Raises `NotFoundError`."""
        ...

    async def activate(self, workspace: WorkspaceId, collection: Collection) -> None:
        """From this commit on it answers; none is being built any more."""
        ...

    async def build(self, workspace: WorkspaceId, collection: Collection | None) -> None:
        """Name the collection that is filled beside the active one; None: no more."""
        ...

    async def park(self, workspace: WorkspaceId, not_before_ms: int, reason: str | None) -> None:
        """No change is applied before `not_before_ms`; a reason of None ends it."""
        ...

    async def acquire_lease(self, workspace: WorkspaceId, holder: str, duration_ms: int) -> ApplyLease | None:
        """The lease with its epoch raised, or None while another holder's has not run out.

        `was_released` is false when the predecessor let it run out: its last calls may still be under way.
        The same holder may acquire again.
        """
        ...

    async def renew_lease(self, lease: ApplyLease, duration_ms: int) -> ApplyLease:
        """Raises `LeaseLostError` when another epoch holds it."""
        ...

    async def assert_lease(self, lease: ApplyLease) -> None:
        """Raises `LeaseLostError` unless this epoch holds an unexpired lease."""
        ...

    async def release_lease(self, lease: ApplyLease) -> None: ...

    async def with_due_changes(self) -> Sequence[WorkspaceId]:
        """Workspaces with unapplied changes whose `not_before_ms` has passed, or with a store to rebuild."""
        ...
