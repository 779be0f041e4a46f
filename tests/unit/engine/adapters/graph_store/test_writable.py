from dataclasses import replace

import pytest

from dormouse.adapters.graph_store.writable import assert_rows_writable
from dormouse.errors import ForbiddenError
from dormouse.ids import WorkspaceId
from dormouse.ports.graph_store import GraphRows
from tests.builders import A_DATASET, ANOTHER_DATASET, a_passage, a_scope
from tests.contract.ports.store_samples import MINE, a_fence, a_version, an_entity

FOREIGN = a_passage(dataset=ANOTHER_DATASET)


@pytest.mark.parametrize(
    "rows",
    [
        GraphRows(passages=(FOREIGN,)),
        GraphRows(entities=(an_entity("Ada", ANOTHER_DATASET),)),
        GraphRows(versions=(a_version(FOREIGN),)),
        GraphRows(passages=(replace(a_passage(), workspace=WorkspaceId("elsewhere")),)),
    ],
)
def test_nothing_of_another_dataset_or_workspace_is_written(rows: GraphRows) -> None:
    with pytest.raises(ForbiddenError):
        assert_rows_writable(MINE, a_fence(), rows)


def test_a_scope_that_may_only_read_or_is_of_another_workspace_writes_nothing() -> None:
    rows = GraphRows(passages=(a_passage(),))

    assert_rows_writable(MINE, a_fence(), rows)
    with pytest.raises(ForbiddenError):
        assert_rows_writable(a_scope([A_DATASET], writable=[]), a_fence(), rows)
    with pytest.raises(ForbiddenError):
        assert_rows_writable(MINE, replace(a_fence(), workspace=WorkspaceId("elsewhere")), GraphRows())
