"""Which dataset a client writes to by default."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dormouse_gateway.contracts.graph.client_names import DEFAULT_DATASET, dataset_of_client

RECORDED = json.loads(
    (Path(__file__).parents[4] / "contract/recorded/graph_mcp.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("row", RECORDED["agent_scoped_dataset_names"], ids=lambda row: ascii(row["dataset"]))
def test_every_recorded_name_leads_to_its_dataset(row: dict[str, str]) -> None:
    assert dataset_of_client(row["clientInfo.name"]) == row["dataset"]


def test_a_client_that_does_not_say_its_name_writes_to_the_shared_default() -> None:
    assert dataset_of_client(None) == DEFAULT_DATASET


def test_scoping_can_be_switched_off() -> None:
    assert dataset_of_client("cursor-vscode", is_scoped=False) == DEFAULT_DATASET


@given(st.text(max_size=200))
def test_whatever_the_name_the_dataset_is_plain_and_never_blank(name: str) -> None:
    dataset = dataset_of_client(name)

    assert dataset.endswith("_memory")
    assert len(dataset) > len("_memory")
    assert set(dataset) <= set("abcdefghijklmnopqrstuvwxyz0123456789_")
