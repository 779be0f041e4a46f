"""Rows and filters as a Qdrant server takes and gives them."""

from array import array
from dataclasses import replace

import pytest
from qdrant_client import models
from qdrant_client.conversions.conversion import GrpcToRest

from dormouse.adapters.vector_store.points import row_of as row_of_point
from dormouse.adapters.vector_store.qdrant_messages import (
    among,
    any_of,
    filter_of,
    not_newer_than,
    point_of,
    query_of,
    row_of,
)
from dormouse.adapters.vector_store.rows import DENSE, TERMS, WINDOW, Arm, Row, Where
from dormouse.model.passage import PassageVectors
from tests.builders import a_passage, a_point, some_vectors

READABLE: Where = [("any", "dataset", ["a", "b"])]


def some_row(vectors: PassageVectors) -> Row:
    point = replace(a_point(a_passage(), vectors), occurred_ms=-5)
    return row_of_point(point, 2**40, len(vectors.dense))


@pytest.mark.parametrize("has_terms", [True, False])
def test_a_row_comes_back_from_the_message_as_it_went(has_terms: bool) -> None:
    vectors = some_vectors(seed=1, dimension=8)
    row = some_row(vectors if has_terms else replace(vectors, terms={}, window_terms={}))

    struct = GrpcToRest.convert_point_struct(point_of(row))
    record = models.Record.model_validate(struct.model_dump())

    assert row_of(record) == row


def test_no_filter_is_ever_empty() -> None:
    """The server would take it for everything."""
    with pytest.raises(ValueError, match="every point"):
        filter_of([])
    with pytest.raises(ValueError, match="every point"):
        any_of([READABLE, []])


def test_ids_are_asked_for_inside_what_is_readable() -> None:
    chosen = among(["x", "y"], READABLE)

    assert chosen == models.Filter(
        must=[
            models.HasIdCondition(has_id=["x", "y"]),
            models.FieldCondition(key="dataset", match=models.MatchAny(any=["a", "b"])),
        ]
    )


def test_a_point_of_the_same_change_is_replaced_and_one_of_a_higher_is_not() -> None:
    assert not_newer_than(7) == models.Filter(must=[models.FieldCondition(key="seq", range=models.Range(lt=8))])


@pytest.mark.parametrize(
    ("arm", "kind"),
    [
        (Arm(DENSE, array("f", [1.0, 0.0]).tobytes(), 3), "dense"),
        (Arm(TERMS, ([4_000_000_000], [0.5]), 3), "sparse"),
        (Arm(WINDOW, ([7], [0.5]), 3), "sparse"),
    ],
)
def test_every_arm_is_exact_inside_its_filter_and_brings_no_vectors(arm: Arm, kind: str) -> None:
    asked = query_of(arm, 5, filter_of(READABLE), ["kind"])

    assert (asked.using, asked.limit, asked.params.exact) == (arm.name, 5, True)
    assert asked.query.nearest.WhichOneof("variant") == kind
    assert [condition.field.key for condition in asked.filter.must] == ["dataset"]
    assert (list(asked.with_payload.include.fields), asked.with_vectors.enable) == (["kind"], False)
