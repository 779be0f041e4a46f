"""The scope of the apply writer: one dataset of one workspace, whoever asked for the change. Pure."""

from dormouse.ids import DatasetId, PrincipalId, WorkspaceId
from dormouse.model.scope import Scope

WRITER = PrincipalId("dormouse:writer")


def writer_scope(workspace: WorkspaceId, dataset: DatasetId) -> Scope:
    """What a change of this dataset may touch; never used to answer a caller."""
    only = frozenset({dataset})
    return Scope(WRITER, workspace, readable=only, writable=only)
