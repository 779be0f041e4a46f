from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse.audit import rows
from dormouse.audit.compare import MOST, Difference, Likeness, content_hash, differences
from dormouse.ids import EntityId, PassageId, TermId, version_id
from dormouse.model.entity import Mention
from dormouse.model.export import ExportRow, RowKind
from dormouse.model.interval import Interval
from dormouse.model.memory import MemoryVersion
from tests.builders import A_DATASET, NOW_MS, a_document, a_passage, a_point
from tests.contract.ports.store_samples import a_version as a_claim


def a_row(text: str = "Ada lives in London.", *, order: int = 0, dense: float = 0.0) -> ExportRow:
    passage = a_passage(text, order=order)
    row = rows.of_passage(passage, None, a_point(passage), has_vectors=True)
    return with_dense(row, dense)


def with_dense(row: ExportRow, number: float) -> ExportRow:
    return replace(row, body={**row.body, "vectors": {"dense": [number, 0.5], "terms": {"7": 1.0}}})


def a_version(revision: int = 1) -> MemoryVersion:
    claim = a_claim(a_passage())
    return replace(claim, id=version_id(claim.memory, revision))


def of_versions(*versions: MemoryVersion) -> list[ExportRow]:
    return sorted(map(rows.of_version, versions), key=lambda row: row.key)


def test_equal_exports_have_no_differences_and_one_hash() -> None:
    one, other = [a_row()], [a_row()]

    assert differences(one, other) == []
    assert content_hash(one) == content_hash(other)


def test_a_row_of_one_side_is_named_with_its_side() -> None:
    first, second = a_row(order=0), a_row("Grace lives in Paris.", order=1)

    found = differences([first], [second])

    assert found == [
        Difference(RowKind.PASSAGE, str(first.body["id"]), "left"),
        Difference(RowKind.PASSAGE, str(second.body["id"]), "right"),
    ]


def test_a_field_that_differs_is_named() -> None:
    row = a_row()
    other = replace(row, body={**row.body, "next": "somebody else"})

    assert differences([row], [other]) == [Difference(RowKind.PASSAGE, str(row.body["id"]), "both", "next")]
    assert content_hash([row]) != content_hash([other])


@pytest.mark.parametrize(("moved", "is_equal"), [(0.00009, True), (0.0002, False)])
def test_vectors_are_compared_to_a_ten_thousandth(moved: float, is_equal: bool) -> None:
    found = differences([a_row(dense=0.1)], [a_row(dense=0.1 + moved)])

    assert (found == []) is is_equal


def test_lost_vectors_are_a_difference() -> None:
    passage = a_passage()
    row = rows.of_passage(passage, None, None, has_vectors=True)

    assert differences([row], [a_row()]) == [Difference(RowKind.PASSAGE, passage.id, "both", "vectors")]


def test_when_the_catalog_wrote_a_row_does_not_count() -> None:
    row = rows.of_document(a_document())
    later = rows.of_document(replace(a_document(), updated_ms=NOW_MS + 1))

    assert differences([row], [later]) == []
    assert content_hash([row]) == content_hash([later])


def test_transaction_times_count_only_within_one_memory() -> None:
    version = a_version()
    later = replace(version, transaction=Interval(NOW_MS + 5))

    assert differences(of_versions(version), of_versions(later)) == [
        Difference(RowKind.MEMORY, version.id, "both", "transaction")
    ]
    assert differences(of_versions(version), of_versions(later), Likeness.ANOTHER_RUN) == []


def test_another_run_never_believed_what_this_one_believes_no_longer() -> None:
    current = a_version(revision=2)
    former = replace(a_version(), transaction=Interval(NOW_MS, NOW_MS + 1), confidence=0.5)
    elsewhere = a_version(revision=1)

    assert differences(of_versions(former, current), of_versions(elsewhere), Likeness.ANOTHER_RUN) == []
    assert differences(of_versions(former, current), of_versions(elsewhere)) != []


def test_not_more_differences_are_named_than_anybody_reads() -> None:
    many = [rows.of_term(A_DATASET, TermId(number), 1) for number in range(MOST * 2)]

    assert len(differences(many, [])) == MOST


def test_what_comes_next_is_named_within_a_session_only() -> None:
    passage, same = a_passage(session="a"), a_passage("Then.", session="a", order=1)
    other = a_passage("Elsewhere.", session="b", order=1)

    named = [
        rows.of_passage(passage, behind, None, has_vectors=False).body["next"] for behind in (same, other, None)
    ]

    assert named == [same.id, None, None]


@given(st.sets(st.integers(0, 30)), st.sets(st.integers(0, 30)))
def test_exactly_the_rows_of_one_side_are_named(left: set[int], right: set[int]) -> None:
    found = differences(terms(sorted(left)), terms(sorted(right)))

    assert {int(each.id) for each in found} == left ^ right


def terms(numbers: Sequence[int]) -> list[ExportRow]:
    return [rows.of_term(A_DATASET, TermId(number), 1) for number in numbers]


def test_ids_of_a_mention_are_both_named() -> None:
    mention = rows.of_mention(A_DATASET, Mention(EntityId("e"), PassageId("p")))

    assert differences([mention], []) == [Difference(RowKind.MENTION, "e p", "left")]
