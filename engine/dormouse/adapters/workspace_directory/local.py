"""One workspace that is always awake: the laptop's, or the only one of a cluster."""

from dormouse.ids import PrincipalId, WorkspaceId

LOCAL_WORKSPACE = WorkspaceId("local")


class LocalWorkspaceDirectory:
    def __init__(self, workspace: WorkspaceId = LOCAL_WORKSPACE) -> None:
        self._workspace = workspace

    async def workspace_of(self, principal: PrincipalId) -> WorkspaceId:  # noqa: ARG002  everybody's
        return self._workspace

    async def all(self) -> tuple[WorkspaceId, ...]:
        return (self._workspace,)
