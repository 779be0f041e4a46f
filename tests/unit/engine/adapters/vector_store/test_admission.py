"""What every store of vectors refuses, and the names it gives."""

import pytest

from dormouse.adapters.vector_store.admission import assert_writable, made_by_another, plain_name
from dormouse.errors import ForbiddenError
from dormouse.ids import DatasetId, WorkspaceId
from dormouse.model.scope import Fence
from dormouse.model.workspace import Collection
from tests.builders import A_DATASET, A_WORKSPACE, ANOTHER_DATASET, a_scope

A_FENCE = Fence(A_WORKSPACE, 1, 1)


@pytest.mark.parametrize(
    ("fence", "datasets"),
    [(A_FENCE, {A_DATASET, ANOTHER_DATASET}), (Fence(WorkspaceId("other"), 1, 1), {A_DATASET})],
)
def test_a_scope_must_cover_all_that_is_written(fence: Fence, datasets: set[DatasetId]) -> None:
    with pytest.raises(ForbiddenError):
        assert_writable(a_scope([A_DATASET]), fence, datasets)

    assert_writable(a_scope([A_DATASET]), A_FENCE, {A_DATASET})


def test_another_model_is_told_with_its_setting_and_both_names() -> None:
    told = made_by_another("former 1", 384, Collection("main", "newer 2", 768))

    assert told.setting == "EMBEDDING__MODEL"
    assert "former 1 (384 numbers each)" in str(told)
    assert "newer 2 (768)" in str(told)


def test_names_stay_apart_where_case_is_lost_and_paths_mean_something() -> None:
    names = ["main", "Main", "../main", "名前", "\ud800", "a" * 64, "a" * 65]

    made = [plain_name(name) for name in names]

    assert made[0] == "main"
    assert len({name.lower() for name in made}) == len(names)
    assert not any(set("/:. ") & set(name) for name in made)
