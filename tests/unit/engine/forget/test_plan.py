"""What an erasing change removes. Source: writes §5."""

import pytest

from dormouse.forget.plan import erasure_of
from dormouse.model.change import ChangeKind, Erasure
from tests.builders import A_DATASET, A_DOCUMENT, a_change


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (ChangeKind.ERASE_DATASET, Erasure(A_DATASET, below_generation=3)),
        (ChangeKind.ERASE_DOCUMENT, Erasure(A_DATASET, A_DOCUMENT)),
        (ChangeKind.ERASE_REVISION, Erasure(A_DATASET, A_DOCUMENT, first_revision=2)),
        (ChangeKind.ERASE_MEMORY, Erasure(A_DATASET, A_DOCUMENT, last_revision_below=2)),
    ],
)
def test_each_kind_is_one_filter(kind: ChangeKind, expected: Erasure) -> None:
    assert erasure_of(a_change(kind=kind, generation=3, revision=2)) == expected


def test_an_upsert_erases_nothing_by_itself() -> None:
    with pytest.raises(ValueError, match="does not erase"):
        erasure_of(a_change())
