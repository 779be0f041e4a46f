"""Which workspaces exist and whether their stores are awake. On a laptop: one, always awake."""

from typing import Protocol

from dormouse.ids import PrincipalId, WorkspaceId


class WorkspaceDirectory(Protocol):
    async def workspace_of(self, principal: PrincipalId) -> WorkspaceId:
        """The workspace this principal works in; raises `NotFoundError` if there is none."""
        ...

    async def all(self) -> tuple[WorkspaceId, ...]: ...
