"""Our answers have the reference's fields. Values differ by nature; every other difference is listed here."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract.program import Program
from tests.contract.rest.test_remember import remember

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "recorded" / "rest.json").read_text(encoding="utf-8")
)


# Not kept, so null here, and what was recorded inside it is missing.
INSIDE_NULL = {"[].externalMetadata", "[].memify_metadata"}


def fields(value: object) -> object:
    """The names in an answer, however deep; of a list, those of its first item."""
    if isinstance(value, dict):
        return {name: fields(each) for name, each in value.items()}
    return [fields(value[0])] if isinstance(value, list) and value else None


def lacking(recorded: object, ours: object, place: str = "") -> list[str]:
    if isinstance(recorded, list):
        return lacking(recorded[0], ours[0], f"{place}[]") if isinstance(ours, list) and ours else [place]
    if not isinstance(recorded, dict):
        return []
    if not isinstance(ours, dict):
        return [place]
    missing = [f"{place}.{name}" for name in recorded if name not in ours]
    for name in recorded.keys() & ours.keys():
        missing += lacking(recorded[name], ours[name], f"{place}.{name}")
    return missing


def ask(client: httpx.Client, case: str, dataset: str) -> httpx.Response:
    body = remember(client, dataset).json()
    item, place = body["items"][0]["id"], body["dataset_id"]
    session = {"session_id": dataset}
    if case == "recall_session":
        form = {"datasetName": dataset, "raw_data": "The deploy key rotates.", **session}
        client.post("/api/v1/remember", files={name: (None, value.encode()) for name, value in form.items()})
    asked: dict[str, tuple[str, str, dict[str, Any] | None]] = {
        "datasets": ("GET", "/datasets", None),
        "data_list": ("GET", f"/datasets/{place}/data", None),
        "recall_CHUNKS": (
            "POST",
            "/recall",
            {"query": "Initech", "search_type": "CHUNKS", "datasets": [dataset]},
        ),
        "recall_session": ("POST", "/recall", {"query": "deploy key", **session}),
        "recall_unknown_dataset": ("POST", "/recall", {"query": "x", "datasets": ["nope"]}),
        "forget_item": ("POST", "/forget", {"dataset": dataset, "data_id": item}),
        "forget_dataset": ("POST", "/forget", {"dataset": dataset}),
        "forget_dataset_again": ("POST", "/forget", {"dataset": "nope"}),
        "delete_dataset_route": ("DELETE", f"/datasets/{place}", None),
    }
    method, path, content = asked[case]
    return client.request(method, f"/api/v1{path}", json=content)


@pytest.mark.parametrize(
    "case",
    [
        "datasets",
        "data_list",
        "recall_CHUNKS",
        "recall_session",
        "recall_unknown_dataset",
        "forget_item",
        "forget_dataset",
        "forget_dataset_again",
        "delete_dataset_route",
    ],
)
def test_an_answer_has_the_recorded_status_and_fields(client: httpx.Client, dataset: str, case: str) -> None:
    answer = ask(client, case, dataset)

    assert answer.status_code == RECORDED[case]["status"]
    assert set(lacking(fields(RECORDED[case]["body"]), fields(answer.json()))) <= INSIDE_NULL


@pytest.mark.parametrize(
    ("case", "extra"), [("remember_ok", {}), ("remember_bg", {"run_in_background": "true"})]
)
def test_a_receipt_has_the_recorded_fields(
    client: httpx.Client, dataset: str, case: str, extra: dict[str, str]
) -> None:
    answer = remember(client, dataset, **extra)

    assert answer.status_code == RECORDED[case]["status"]
    assert lacking(fields(RECORDED[case]["body"]), fields(answer.json())) == []


def test_an_empty_memory_says_so_in_the_recorded_words(tmp_path: Path) -> None:
    program = Program(tmp_path / "data folder")
    with program.serving(), program.client() as client:
        answer = client.post("/api/v1/recall", json={"query": "hello"})
        everything = client.post("/api/v1/forget", json={"everything": True})

    assert answer.json() == RECORDED["recall_nodata"]["body"]
    assert everything.json() == {"datasets_removed": 0, "status": "success"}
