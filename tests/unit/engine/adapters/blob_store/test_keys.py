import pytest

from dormouse.adapters.blob_store.keys import checked, prefix_of
from dormouse.errors import InvalidInputError, NotFoundError
from dormouse.ids import BlobKey, JobId, WorkspaceId


def test_a_prefix_is_of_a_workspace_or_of_one_of_its_jobs() -> None:
    assert prefix_of(WorkspaceId("team"), None) == "team"
    assert prefix_of(WorkspaceId("team"), JobId("job-1")) == "team/job-1"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "a#b", "é"])
def test_a_name_that_would_climb_or_be_spelt_otherwise_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError):
        prefix_of(WorkspaceId(name), None)
    with pytest.raises(NotFoundError):
        checked(BlobKey(f"team/{name}/0"))
