import pytest

from dormouse.errors import InvalidInputError
from dormouse_gateway.contracts.graph.rest.bodies import ForgetBody, RecallBody, RememberBody, parsed


@pytest.mark.parametrize("name", ["datasetName", "dataset_name"])
def test_both_cases_are_understood(name: str) -> None:
    assert parsed(RememberBody, {name: "notes"}).dataset_name == "notes"


def test_an_unknown_field_is_refused_by_name() -> None:
    """The reference ignored them, and a misspelt `datasets` searched everything."""
    with pytest.raises(InvalidInputError, match="dataset_name: is not a known field") as refused:
        parsed(RecallBody, {"query": "x", "dataset_name": "notes"})

    assert refused.value.field == "dataset_name"


@pytest.mark.parametrize("absent", [None, "", "null", " null "])
def test_absent_ids_come_in_many_spellings(absent: str | None) -> None:
    assert parsed(ForgetBody, {"dataset": "notes", "data_id": absent}).data_id is None


def test_a_refusal_never_repeats_the_value() -> None:
    with pytest.raises(InvalidInputError) as refused:
        parsed(RecallBody, {"query": "x", "top_k": "my secret"})

    assert "secret" not in str(refused.value)
    assert str(refused.value).startswith("top_k")


@pytest.mark.parametrize("top_k", [0, -1, 101])
def test_the_number_of_memories_is_bounded(top_k: int) -> None:
    with pytest.raises(InvalidInputError, match="topK"):
        parsed(RecallBody, {"query": "x", "topK": top_k})


def test_one_name_stands_for_a_list_of_one() -> None:
    assert parsed(RecallBody, {"query": "x", "datasets": "notes"}).datasets == ["notes"]


def test_a_recall_needs_a_query() -> None:
    with pytest.raises(InvalidInputError, match="query: field required"):
        parsed(RecallBody, {})


@pytest.mark.parametrize("data_id", ["zz", "2ed18b7a-cfef-404b-9c1c", "2ed18b7a-cfef-404b-9c1c-5a4527d1cdc2x"])
def test_what_is_no_id_is_not_forgotten(data_id: str) -> None:
    """Else a mistyped id would be called forgotten."""
    with pytest.raises(InvalidInputError, match="data_id"):
        parsed(ForgetBody, {"dataset": "notes", "data_id": data_id})
