"""Keys of blobs, `workspace/job/sha256`, and what a list tells of each."""

import re
from typing import TYPE_CHECKING

from dormouse.errors import InvalidInputError, NotFoundError
from dormouse.ids import BlobKey, JobId, WorkspaceId

if TYPE_CHECKING:
    from obstore import ObjectMeta  # exists for type checkers only

Entry = tuple[str, int, int]  # key, bytes, modified in ms
# One folder's name: nothing that climbs out of it, or that the library would spell otherwise.
_SEGMENT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")


def entry(meta: "ObjectMeta") -> Entry:
    return meta["path"], meta["size"], int(meta["last_modified"].timestamp() * 1000)


def prefix_of(workspace: WorkspaceId, job: JobId | None) -> str:
    return segment(workspace) if job is None else f"{segment(workspace)}/{segment(job)}"


def segment(name: str) -> str:
    if not _SEGMENT.fullmatch(name):
        raise InvalidInputError("a workspace or job is named by letters, digits, '-', '_' and '.'")
    return name


def checked(key: BlobKey) -> str:
    parts = key.split("/")
    if len(parts) != 3 or not all(map(_SEGMENT.fullmatch, parts)):
        raise NotFoundError("no such blob")
    return key
