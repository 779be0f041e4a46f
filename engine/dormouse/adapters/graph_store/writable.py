"""What a writer's scope and fence allow: nothing of another dataset or workspace than theirs; no I/O."""

from collections.abc import Collection

from dormouse.errors import ForbiddenError
from dormouse.ids import DatasetId
from dormouse.model.scope import Fence, Scope
from dormouse.ports.graph_store import GraphRows


def assert_writable(scope: Scope, fence: Fence, datasets: Collection[DatasetId]) -> None:
    if scope.workspace != fence.workspace or not scope.writable.issuperset(datasets):
        raise ForbiddenError("the scope does not cover what is to be written")


def assert_rows_writable(scope: Scope, fence: Fence, rows: GraphRows) -> None:
    datasets = {row.dataset for row in rows.passages} | {row.dataset for row in rows.entities}
    assert_writable(scope, fence, datasets | {row.dataset for row in rows.versions})
    if any(passage.workspace != fence.workspace for passage in rows.passages):
        raise ForbiddenError("a passage of another workspace")
