"""Two users of one server: what is somebody else's and what never was get the same answer on every route."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.contract.program import DEADLINE_S, Program
from tests.promises import promise

FILES = {"data": ("a.txt", b"Bob writes here.")}
ENTRY = {"type": "qa", "question": "Who knows?", "answer": "Ada knows."}


@dataclass(frozen=True, slots=True)
class Pair:
    """`known` are ids of what is Ada's; each call with them is made by Bob, and again with ids of nothing."""

    ada: httpx.Client
    bob: httpx.Client
    known: dict[str, str]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("strangers")
    keys = str(folder / "keys.json")
    program = Program(folder / "data folder", {"DORMOUSE_API_KEYS_FILE": keys})
    secrets = [
        program.run("keys", "create", "--user", user, "--file", keys).stdout.strip() for user in ("ada", "bob")
    ]
    with program.serving() as url:
        ada, bob = (
            httpx.Client(base_url=url, headers={"X-Api-Key": key}, timeout=DEADLINE_S, trust_env=False)
            for key in secrets
        )
        with ada, bob:
            body = ada.post("/api/v1/remember", data={"datasetName": "notes"}, files=FILES).json()
            ada.post("/api/v1/add", data={"datasetName": "notes"}, files={"data": ("b.txt", b"Staged.")})
            entry = ada.post("/api/v1/remember/entry", json={"entry": ENTRY, "session_id": "s"}).json()
            known = {
                "dataset": body["dataset_id"],
                "item": body["items"][0]["id"],
                "job": body["pipeline_run_id"],
                "entry": entry["entry_id"],
            }
            yield Pair(ada, bob, known)


CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/datasets/status?dataset={dataset}", {}),
    ("GET", "/datasets/status/progress?dataset={dataset}", {}),
    ("GET", "/datasets/{dataset}/data", {}),
    ("GET", "/datasets/{dataset}/data/count", {}),
    ("GET", "/datasets/{dataset}/data/{item}", {}),
    ("GET", "/datasets/{dataset}/data/{item}/raw", {}),
    ("DELETE", "/datasets/{dataset}/data/{item}", {}),
    ("DELETE", "/datasets/{dataset}", {}),
    ("GET", "/datasets/{dataset}/processing-status", {}),
    ("GET", "/datasets/{dataset}/graph", {}),
    ("POST", "/add", {"data": {"datasetId": "{dataset}"}, "files": FILES}),
    ("POST", "/cognify", {"json": {"dataset_ids": ["{dataset}"]}}),
    ("PATCH", "/update?data_id={item}&dataset_id={dataset}", {"files": FILES}),
    ("POST", "/search", {"json": {"query": "Ada", "dataset_ids": ["{dataset}"]}}),
    ("POST", "/recall", {"json": {"query": "Ada", "dataset_ids": ["{dataset}"]}}),
    (
        "POST",
        "/remember/entry",
        {"json": {"entry": ENTRY, "session_id": "s", "dataset_id": "{dataset}"}},
    ),
    (
        "POST",
        "/remember/entry",
        {"json": {"entry": {"type": "feedback", "qa_id": "{entry}", "feedback_score": 1}, "session_id": "s"}},
    ),
    ("GET", "/jobs/{job}", {}),
    ("POST", "/jobs/{job}/retry", {}),
    ("POST", "/jobs/{job}/cancel", {}),
]


@promise("P5")
@pytest.mark.parametrize(("method", "path", "request_"), CALLS)
def test_what_is_another_users_answers_like_what_never_was(
    pair: Pair, method: str, path: str, request_: dict[str, Any]
) -> None:
    nothing = {name: str(uuid4()) for name in pair.known}

    foreign, never = (
        _said(pair.bob.request(method, f"/api/v1{_with(path, ids)}", **_with(request_, ids)), ids)
        for ids in (pair.known, nothing)
    )

    assert foreign == never
    assert foreign[0] == 404


@promise("P5")
def test_lists_and_searches_hold_nothing_of_another_user(pair: Pair) -> None:
    answers = [
        pair.bob.get("/api/v1/datasets").json(),
        pair.bob.get("/api/v1/datasets/status").json(),
        pair.bob.get("/api/v1/sessions").json()["sessions"],
        pair.bob.get("/api/v1/jobs").json()["jobs"],
        pair.bob.post("/api/v1/search", json={"query": "Who knows?", "session_id": "s"}).json(),
    ]

    assert answers == [[], {}, [], [], []]
    assert pair.bob.get("/api/v1/sessions/s").status_code == 404


@promise("P5")
def test_a_session_of_the_same_name_is_another_session(pair: Pair) -> None:
    ended = pair.bob.delete("/api/v1/sessions/s").json()

    assert ended["entries_removed"] == 0
    assert len(pair.ada.get("/api/v1/sessions/s").json()["qas"]) == 1


def _with(value: Any, ids: dict[str, str]) -> Any:  # noqa: ANN401 - JSON and forms
    if isinstance(value, str):
        return value.format(**ids)
    if isinstance(value, dict):
        return {name: each if name == "files" else _with(each, ids) for name, each in value.items()}
    return [_with(each, ids) for each in value] if isinstance(value, list) else value


def _said(answer: httpx.Response, ids: dict[str, str]) -> tuple[int, str]:
    """Without the ids that were asked for, and the request's own."""
    text = answer.text.replace(answer.headers.get("x-request-id", "none"), "")
    for name, id_ in ids.items():
        text = text.replace(id_, name)
    return answer.status_code, text
