from collections.abc import Iterator

import httpx
import pytest

STORY = "Carol founded Initech in Vienna."


def remember(
    client: httpx.Client, dataset: str, text: str = STORY, name: str = "a.txt", **fields: str
) -> httpx.Response:
    return client.post(
        "/api/v1/remember", data={"datasetName": dataset, **fields}, files={"data": (name, text.encode())}
    )


def test_a_blocking_remember_answers_when_it_can_be_found(client: httpx.Client, dataset: str) -> None:
    """Contract: recorded case remember_ok; `improve` comes with session memory."""
    answer = remember(client, dataset)

    body = answer.json()
    assert answer.status_code == 200, body
    assert body["status"] == "completed"
    assert body["dataset_name"] == dataset
    assert body["items_processed"] == 1
    assert body["elapsed_seconds"] >= 0
    assert body["pipeline_run_id"] == body["items"][0]["job_id"]
    found = client.post("/api/v1/recall", json={"query": "Who founded Initech?", "datasets": [dataset]}).json()
    assert [entry["text"] for entry in found] == [STORY]


def test_a_background_remember_gives_a_receipt_at_once(client: httpx.Client, dataset: str) -> None:
    """The reference gave none; polling needs it."""
    body = remember(client, dataset, run_in_background="true").json()

    assert body["status"] in {"running", "completed"}
    job = client.get(f"/api/v1/jobs/{body['pipeline_run_id']}", params={"wait": 30}).json()
    assert job["stage"] in {"searchable", "complete"}
    assert job["steps"][0]["stage"] == "accepted"


def test_what_the_caller_says_about_an_item_comes_back_with_it(client: httpx.Client, dataset: str) -> None:
    said = {"external_id": "note 7", "occurred_at": "2026-01-05T14:00:00+02:00"}
    remember(client, dataset, name="notes/2026/founders.md", **said)

    entry = client.post("/api/v1/recall", json={"query": "Initech", "datasets": [dataset]}).json()[0]

    assert entry["source"] == "graph"
    assert entry["dataset_name"] == dataset
    assert entry["metadata"]["document_name"] == "notes/2026/founders.md"
    assert entry["metadata"]["external_id"] == "note 7"
    assert entry["metadata"]["occurred_at"] == "2026-01-05T12:00:00.000Z"


def test_the_same_again_costs_nothing(client: httpx.Client, dataset: str) -> None:
    first = remember(client, dataset).json()["items"][0]
    second = remember(client, dataset).json()["items"][0]

    assert second["id"] == first["id"]
    assert second["is_duplicate"]


def test_several_items_each_have_their_own_line(client: httpx.Client, dataset: str) -> None:
    files = [("data", ("a.txt", b"Ada wrote the first program.")), ("data", ("b.txt", b""))]
    answer = client.post(
        "/api/v1/remember", data={"datasetName": dataset, "raw_data": "Grace found a moth."}, files=files
    )

    body = answer.json()
    assert answer.status_code == 409
    assert body["status"] == "errored"
    assert [item["id"] is not None for item in body["items"]] == [True, False, True]
    assert body["items"][1]["name"] == "b.txt"


def test_text_with_a_session_stays_in_the_session(client: httpx.Client, dataset: str) -> None:
    """The reference dropped the content and answered the same."""
    fields = {"datasetName": dataset, "session_id": dataset, "raw_data": "The deploy key rotates on Mondays."}
    body = client.post(
        "/api/v1/remember", data=fields, files={"data": ("n.txt", b"Backups run at noon.")}
    ).json()

    assert (body["status"], body["session_ids"]) == ("session_stored", [dataset])
    found = client.post("/api/v1/recall", json={"query": "deploy key", "session_id": dataset}).json()
    assert found[0]["source"] == "session"
    assert found[0]["answer"] == "The deploy key rotates on Mondays."


@pytest.mark.parametrize(
    ("fields", "files", "status", "words"),
    [
        ({"datasetName": "d"}, {}, 400, "Provide at least one file in 'data' or one entry in 'raw_data'."),
        ({}, {"data": ("a.txt", b"x")}, 400, "Either datasetId or datasetName must be provided."),
        ({"datasetName": "d", "dataSetName": "e"}, {"data": ("a.txt", b"x")}, 400, "dataSetName"),
        ({"datasetName": "d", "kind": "movie"}, {"data": ("a.txt", b"x")}, 400, "kind"),
        ({"datasetName": "d", "occurred_at": "yesterday"}, {"data": ("a.txt", b"x")}, 400, "occurred_at"),
        ({"datasetName": "d"}, {"data": ("../../etc/passwd", b"x")}, 400, "name"),
        ({"datasetId": "9d6d85c4-3b04-4c34-aac4-06a145dcd1fa"}, {"data": ("a.txt", b"x")}, 404, ""),
        ({"datasetName": "d"}, {"data": ("a.txt", b"x" * (10 * 1024 * 1024 + 1))}, 413, "10,485,760"),
    ],
)
def test_a_refusal_names_the_field_and_nothing_is_stored(
    client: httpx.Client, fields: dict[str, str], files: dict[str, tuple[str, bytes]], status: int, words: str
) -> None:
    parts = {name: (None, value.encode()) for name, value in fields.items()}
    answer = client.post("/api/v1/remember", files={**parts, **files})

    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"detail", "code", "remediation", "request_id"}
    assert words in answer.json()["detail"]
    assert "d" not in [row["name"] for row in client.get("/api/v1/datasets").json()]


def test_a_key_makes_a_repeated_call_safe(client: httpx.Client, dataset: str) -> None:
    key = {"Idempotency-Key": dataset}

    def send(text: str) -> httpx.Response:
        return client.post(
            "/api/v1/remember",
            data={"datasetName": dataset},
            files={"data": ("a.txt", text.encode())},
            headers=key,
        )

    first, again, other = send(STORY), send(STORY), send("Something else.")

    assert again.json()["pipeline_run_id"] == first.json()["pipeline_run_id"]
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_conflict")


def test_a_body_over_the_limit_is_refused_while_it_comes(client: httpx.Client) -> None:
    def endless() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="data"; filename="a.txt"\r\n\r\n'
        for _ in range(65):
            yield b"x" * 1024 * 1024

    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    answer = client.post("/api/v1/remember", content=endless(), headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_file_has_one_name_however_its_letters_are_composed(client: httpx.Client, dataset: str) -> None:
    one = remember(client, dataset, name="./caf\u00e9//menu.txt").json()["items"][0]
    other = remember(client, dataset, text="Soup.", name="cafe\u0301/menu.txt").json()["items"][0]

    assert (one["id"], one["name"]) == (other["id"], "caf\u00e9/menu.txt")


@pytest.mark.parametrize(
    "sent",
    [
        {"dataset": "zero\u200bwidth"},
        {"dataset": ".."},
        {"external_id": "what\ufffd"},
        {"name": "soft\u00adhyphen.txt"},
        {"session_id": "line\u2028separator"},
    ],
    ids=lambda sent: next(iter(sent)),
)
def test_a_name_that_would_deceive_is_refused_and_nothing_is_stored(
    client: httpx.Client, dataset: str, sent: dict[str, str]
) -> None:
    fields = {"datasetName": dataset} | {name: value for name, value in sent.items() if name != "name"}
    if "dataset" in fields:
        fields["datasetName"] = fields.pop("dataset")
    answer = client.post(
        "/api/v1/remember", data=fields, files={"data": (sent.get("name", "a.txt"), STORY.encode())}
    )

    assert answer.status_code == 400, answer.text
    assert "invisible or undecodable" in answer.json()["detail"]
    assert fields["datasetName"] not in [row["name"] for row in client.get("/api/v1/datasets").json()]


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("occurredAt", "yesterday", "occurredAt must be an ISO 8601 time with an offset"),
        ("occurred_at", "yesterday", "occurred_at must be an ISO 8601 time with an offset"),
        ("externalMetadata", "7", "externalMetadata must be a JSON array"),
        ("externalId", "a\u200bb", "externalId must not contain control, invisible or undecodable"),
        ("kind", "video", "kind: must be text, file or chat"),
        ("runInBackground", "perhaps", "runInBackground: must be true or false"),
    ],
)
def test_a_refusal_names_the_field_as_it_was_sent(
    client: httpx.Client, dataset: str, field: str, value: str, rule: str
) -> None:
    answer = remember(client, dataset, **{field: value})

    assert answer.status_code == 400
    assert answer.json()["detail"].startswith(rule)


def test_content_is_named_by_the_field_it_came_in(client: httpx.Client, dataset: str) -> None:
    as_file = remember(client, dataset, text="")
    as_text = client.post(
        "/api/v1/remember", data={"datasetName": dataset}, files=[("raw_data", (None, b" \n"))]
    )

    assert as_file.json()["detail"] == "data must not be empty"
    assert as_text.json()["detail"] == "raw_data must not be empty or blank"
