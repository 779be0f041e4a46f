"""One workspace that is always awake: the laptop's."""

from dormouse.ids import PrincipalId, WorkspaceId

LOCAL_WORKSPACE = WorkspaceId("local")


class LocalWorkspaceDirectory:
    async def workspace_of(self, principal: PrincipalId) -> WorkspaceId:  # noqa: ARG002  everybody's
        return LOCAL_WORKSPACE

    async def all(self) -> tuple[WorkspaceId, ...]:
        return (LOCAL_WORKSPACE,)
