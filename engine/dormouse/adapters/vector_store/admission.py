"""What every store of vectors refuses before it asks its engine, and the names it gives to what it keeps."""

import hashlib
import re
from collections.abc import Collection

from dormouse.errors import ForbiddenError, MisconfiguredError
from dormouse.ids import DatasetId
from dormouse.model.scope import Fence, Scope
from dormouse.model.workspace import Collection as VectorCollection

_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def assert_writable(scope: Scope, fence: Fence, datasets: Collection[DatasetId]) -> None:
    if scope.workspace != fence.workspace or not scope.writable.issuperset(datasets):
        raise ForbiddenError("the scope does not cover what is to be written")


def made_by_another(model: str, dimension: int, wanted: VectorCollection) -> MisconfiguredError:
    return MisconfiguredError(
        f"these vectors were made by {model} ({dimension} numbers each), but the embedder is now "
        f"{wanted.model} ({wanted.dimension}): choose the former model again, or embed "
        "everything into a new collection",
        setting="EMBEDDING__MODEL",
    )


def plain_name(name: str) -> str:
    """The name itself where every file system keeps it apart from others, else its hash."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    return f"sha256-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}"
