"""A store that is made anew from the catalog and the blobs, by following the applied changes once more.

Source: writes §7.
"""

from dataclasses import dataclass
from enum import StrEnum

from dormouse.ids import JobId, WorkspaceId


class DerivedStore(StrEnum):
    """The two stores that hold nothing of their own."""

    GRAPH = "graph"
    VECTORS = "vectors"


@dataclass(frozen=True, slots=True)
class Rebuild:
    """`followed_seq`: every change up to it is in the new store; None before that one was made.

    `job` None: no one asked; after an unclean start the latest changes are followed again into what is there.
    `lost` counts changes whose contents are gone, so that nothing could be followed there.
    """

    workspace: WorkspaceId
    store: DerivedStore
    job: JobId | None
    followed_seq: int | None = None
    lost: int = 0
