"""Session memory over REST: entries of every kind, listed, read, rated and ended."""

from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.contract.rest.test_datasets import NOBODYS

EXCHANGE = {"type": "qa", "question": "When does the deploy key rotate?", "answer": "On Mondays."}


def say(client: httpx.Client, session: str, entry: dict[str, Any] | None = None, **more: Any) -> httpx.Response:  # noqa: ANN401 - JSON
    return client.post(
        "/api/v1/remember/entry", json={"entry": entry or EXCHANGE, "session_id": session, **more}
    )


def test_an_exchange_is_found_by_its_session_with_its_parts(client: httpx.Client, dataset: str) -> None:
    """Contract: recorded cases entry_qa, recall_session."""
    stored = say(client, dataset, dataset_name=dataset).json()

    (found,) = client.post("/api/v1/recall", json={"query": "deploy key", "session_id": dataset}).json()

    assert (stored["status"], stored["entry_type"]) == ("session_stored", "qa")
    assert stored["dataset_id"] in [row["id"] for row in client.get("/api/v1/datasets").json()]
    assert (found["qa_id"], found["question"], found["answer"]) == (
        stored["entry_id"],
        EXCHANGE["question"],
        EXCHANGE["answer"],
    )


@pytest.mark.parametrize("name", ["team/2026/planning", "a%2Fb", "50% of /", "/"])
def test_a_session_whose_name_has_a_slash_is_read_and_ended_by_its_encoded_name(
    client: httpx.Client, dataset: str, name: str
) -> None:
    session = f"{name} {dataset}"
    say(client, session)
    path = f"/api/v1/sessions/{quote(session, safe='')}"

    read, ended, after = client.get(path), client.delete(path), client.get(path)

    assert (read.status_code, read.json()["session_id"], len(read.json()["qas"])) == (200, session, 1)
    assert (ended.status_code, ended.json()["entries_removed"]) == (200, 1)
    assert after.status_code == 404


def test_an_encoded_slash_makes_no_other_route(client: httpx.Client) -> None:
    answers = [client.get(f"/api/v1/{path}") for path in ("datasets%2Fx%2Fdata", "jobs%2f", "sessions%2Fa/b")]
    wrong_method = client.put("/api/v1/sessions/a%2Fb")

    assert [each.status_code for each in answers] == [404, 404, 404]
    assert wrong_method.status_code == 405


def test_feedback_is_kept_with_its_exchange(client: httpx.Client, dataset: str) -> None:
    """Contract: recorded case entry_feedback."""
    entry = say(client, dataset).json()["entry_id"]
    rating = {"type": "feedback", "qa_id": entry, "feedback_score": 5, "feedback_text": "good"}

    rated = say(client, dataset, rating)

    (exchange,) = client.get(f"/api/v1/sessions/{dataset}").json()["qas"]
    assert rated.json()["entry_id"] == entry
    assert (exchange["feedback_score"], exchange["feedback_text"]) == (5, "good")
    assert say(client, dataset, {**rating, "qa_id": NOBODYS}).status_code == 404
    assert say(client, "another session", rating).status_code == 404


def test_a_trace_is_shown_with_its_session_and_found_by_nobody(client: httpx.Client, dataset: str) -> None:
    """Contract: recorded case entry_trace."""
    trace = {"type": "trace", "origin_function": "rotate", "status": "error", "methodParams": {"key": [1]}}
    say(client, dataset, trace)

    read = client.get(f"/api/v1/sessions/{dataset}").json()
    found = client.post(
        "/api/v1/recall", json={"query": "rotate", "session_id": dataset, "scope": "session"}
    ).json()

    assert [(each["origin_function"], each["method_params"]) for each in read["traces"]] == [
        ("rotate", {"key": [1]})
    ]
    assert (read["msg_count"], read["tool_calls"], read["qas"]) == (0, 1, [])
    assert [entry for entry in found if entry["source"] == "session"] == []


def test_sessions_and_their_entries_go_on_where_their_cursor_says(client: httpx.Client, dataset: str) -> None:
    for number in range(3):
        say(client, dataset, {**EXCHANGE, "answer": str(number)})
        say(client, f"{dataset} {number}")

    def walk(path: str, name: str, field: str) -> list[str]:
        seen: list[str] = []
        params = {"limit": "2"}
        while True:
            answer = client.get(path, params=params)
            seen += [row[field] for row in answer.json()[name]]
            if "x-next-cursor" not in answer.headers:
                return seen
            params["cursor"] = answer.headers["x-next-cursor"]

    names = [name for name in walk("/api/v1/sessions", "sessions", "session_id") if name.startswith(dataset)]
    assert sorted(names) == sorted([dataset, *(f"{dataset} {number}" for number in range(3))])
    assert sorted(walk(f"/api/v1/sessions/{dataset}", "qas", "answer")) == ["0", "1", "2"]


def test_a_session_is_erased_whole_and_alone(client: httpx.Client, dataset: str) -> None:
    say(client, dataset)
    say(client, f"{dataset} 2")

    ended = client.delete(f"/api/v1/sessions/{dataset}")
    again = client.delete(f"/api/v1/sessions/{dataset}")

    assert (ended.json()["entries_removed"], again.json()["entries_removed"]) == (1, 0)
    assert client.get(f"/api/v1/sessions/{dataset}").status_code == 404
    assert client.get(f"/api/v1/sessions/{dataset} 2").status_code == 200


def test_a_key_makes_an_entry_once(client: httpx.Client, dataset: str) -> None:
    def send(answer: str) -> httpx.Response:
        body = {"entry": {**EXCHANGE, "answer": answer}, "session_id": dataset}
        return client.post("/api/v1/remember/entry", json=body, headers={"Idempotency-Key": dataset})

    first, again, other = send("On Mondays."), send("On Mondays."), send("On Tuesdays.")

    assert again.json() == first.json()
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_conflict")
    assert len(client.get(f"/api/v1/sessions/{dataset}").json()["qas"]) == 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"entry": EXCHANGE}, "sessionId"),
        ({"entry": EXCHANGE, "session_id": " "}, "session_id"),
        ({"entry": {"type": "zzz"}, "session_id": "s"}, "entry"),
        ({"entry": {"type": "qa"}, "session_id": "s"}, "entry"),
        ({"entry": {**EXCHANGE, "mood": "x"}, "session_id": "s"}, "entry.mood"),
        ({"entry": {**EXCHANGE, "feedback_score": 99}, "session_id": "s"}, "entry.feedback"),
        ({"entry": EXCHANGE, "session_id": "s", "dataset_name": "a", "dataset_id": "b"}, "datasetId"),
    ],
)
def test_what_is_no_entry_is_refused(client: httpx.Client, body: dict[str, Any], words: str) -> None:
    answer = client.post("/api/v1/remember/entry", json=body)

    assert answer.status_code == 400, answer.text
    assert words in answer.json()["detail"]
