"""The scope of the apply writer: the datasets of a change, whoever asked for it. Pure."""

from dormouse.ids import DatasetId, PrincipalId, WorkspaceId
from dormouse.model.scope import Scope

WRITER = PrincipalId("dormouse:writer")


def writer_scope(workspace: WorkspaceId, *datasets: DatasetId) -> Scope:
    """What a change of these datasets may touch; never used to answer a caller."""
    only = frozenset(datasets)
    return Scope(WRITER, workspace, readable=only, writable=only)
