from dataclasses import replace

import pytest

from dormouse.adapters.vector_store.points import key_of, row_of, where_erased
from dormouse.errors import InvalidInputError, MisconfiguredError
from dormouse.ids import DatasetId, PassageId, TermId
from dormouse.model.change import Erasure
from dormouse.model.passage import PassageVectors
from tests.builders import A_DATASET, A_DOCUMENT, a_passage, a_point, some_vectors


def test_an_id_that_is_a_uuid_is_its_own_key() -> None:
    assert key_of(A_DATASET) == A_DATASET


@pytest.mark.parametrize("id_", ["", "main", A_DATASET.upper(), f"{{{A_DATASET}}}", "数据集"])
def test_any_other_id_gets_a_key_of_its_own(id_: str) -> None:
    assert key_of(id_) not in {id_, A_DATASET}
    assert key_of(key_of(id_)) == key_of(id_)


def test_a_payload_holds_no_text_and_keeps_ids_that_are_no_uuids() -> None:
    point = replace(a_point(a_passage("Ada lives in London.")), dataset=DatasetId("named by hand"))

    payload = row_of(point, 7, 384).payload

    assert (payload["dataset_id"], payload["dataset"]) == ("named by hand", key_of("named by hand"))
    assert payload["seq"] == 7
    assert "London" not in str(payload)
    assert "document_id" not in payload


def test_terms_are_stored_in_order_of_their_ids() -> None:
    made = some_vectors()
    vectors = PassageVectors({TermId(9): 1.0, TermId(2): 3.0}, {}, made.dense, made.tokens)

    assert row_of(a_point(vectors=vectors), 1, 384).terms == ([2, 9], [3.0, 1.0])


@pytest.mark.parametrize("term", [-1, 2**32])
def test_a_term_beyond_32_bits_is_refused(term: int) -> None:
    made = some_vectors()
    vectors = PassageVectors({TermId(term): 1.0}, {}, made.dense, made.tokens)

    with pytest.raises(InvalidInputError, match="32 bits"):
        row_of(a_point(vectors=vectors), 1, 384)


def test_a_passage_that_is_no_uuid_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="UUID"):
        row_of(replace(a_point(), passage=PassageId("first")), 1, 384)
    with pytest.raises(InvalidInputError, match="UUID"):
        row_of(replace(a_point(), previous=(PassageId("first"),)), 1, 384)


def test_another_dimension_says_what_to_do() -> None:
    with pytest.raises(MisconfiguredError, match="choose the former model again"):
        row_of(a_point(), 1, 385)


def test_an_erasure_is_never_an_empty_filter() -> None:
    with pytest.raises(InvalidInputError):
        where_erased(Erasure(A_DATASET))


def test_an_erasure_of_a_revision_reaches_up_to_its_own_change() -> None:
    where = where_erased(Erasure(A_DATASET, A_DOCUMENT, first_revision=2), seq=5)

    assert where[2:] == [("equals", "first", 2), ("range", "seq", (None, 6))]
