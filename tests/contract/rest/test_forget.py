import httpx
import pytest

from tests.contract.rest.test_remember import STORY, remember

NOBODY = "9d6d85c4-3b04-4c34-aac4-06a145dcd1fa"


def texts(client: httpx.Client, dataset: str) -> list[str]:
    answer = client.post("/api/v1/recall", json={"query": "founded moth", "datasets": [dataset]})
    return [entry["text"] for entry in answer.json()] if answer.status_code == 200 else []


def test_a_forgotten_item_is_gone_and_forgetting_it_again_succeeds(client: httpx.Client, dataset: str) -> None:
    body = remember(client, dataset).json()
    remember(client, dataset, text="Grace found a moth.", name="b.txt")
    wanted = {"dataset": dataset, "data_id": body["items"][0]["id"]}

    for _ in range(2):
        answer = client.post("/api/v1/forget", json=wanted)
        assert answer.json() == {
            "data_id": wanted["data_id"],
            "dataset_id": body["dataset_id"],
            "status": "success",
        }

    assert texts(client, dataset) == ["Grace found a moth."]


def test_a_forgotten_dataset_is_not_found_any_more(client: httpx.Client, dataset: str) -> None:
    """Contract: recorded cases forget_dataset, forget_dataset_again."""
    body = remember(client, dataset).json()

    answer = client.post("/api/v1/forget", json={"dataset": dataset})
    again = client.post("/api/v1/forget", json={"dataset": dataset})

    assert answer.json() == {"dataset_id": body["dataset_id"], "status": "success"}
    assert again.status_code == 404
    assert dataset not in [row["name"] for row in client.get("/api/v1/datasets").json()]


def test_deleting_a_dataset_answers_null(client: httpx.Client, dataset: str) -> None:
    body = remember(client, dataset).json()

    answer = client.delete(f"/api/v1/datasets/{body['dataset_id']}")

    assert (answer.status_code, answer.json()) == (200, None)
    assert texts(client, dataset) == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"data_id": NOBODY},
        {"dataset": "d", "dataset_id": NOBODY},
        {"dataset": "d", "everything": True},
        {"memory_only": True},
        {"memory_only": True, "everything": True},
    ],
)
def test_a_forget_without_one_target_is_refused_in_the_recorded_words(
    client: httpx.Client, body: dict[str, object]
) -> None:
    answer = client.post("/api/v1/forget", json=body)

    assert answer.status_code == 422
    assert answer.json()["detail"] == (
        "Invalid request parameters. Specify dataset or dataset_id, data_id+dataset, or everything=True."
    )


def test_forgetting_the_memory_alone_keeps_the_item_for_later(client: httpx.Client, dataset: str) -> None:
    """Contract: recorded cases forget_memonly, recall_after_memonly, status_after_memonly."""
    body = remember(client, dataset).json()
    place, item = body["dataset_id"], body["items"][0]["id"]

    answer = client.post("/api/v1/forget", json={"dataset": dataset, "memory_only": True})
    again = client.post("/api/v1/forget", json={"datasetId": place, "memoryOnly": True})

    assert (answer.status_code, answer.json()) == (
        200,
        {"dataset_id": place, "data_records_reset": 1, "status": "success"},
    )
    assert again.json()["data_records_reset"] == 0
    recalled = client.post("/api/v1/recall", json={"query": "founded moth", "datasets": [dataset]})
    assert (recalled.status_code, recalled.json()) == (200, [])
    status = client.get("/api/v1/datasets/status", params={"dataset": place}).json()
    assert status == {place: "DATASET_PROCESSING_COMPLETED"}
    (row,) = client.get(f"/api/v1/datasets/{place}/data").json()
    assert (row["id"], row["isStaged"], row["isSearchable"]) == (item, True, False)
    assert client.get(f"/api/v1/datasets/{place}/data/{item}/raw").text == STORY
    assert client.get(f"/api/v1/datasets/{place}/processing-status").json()["pending"] == 1

    client.post("/api/v1/cognify", json={"datasets": [dataset]})

    assert texts(client, dataset) == [STORY]


def test_the_memory_of_one_item_is_forgotten_alone(client: httpx.Client, dataset: str) -> None:
    item = remember(client, dataset).json()["items"][0]["id"]
    remember(client, dataset, text="Grace found a moth.", name="b.txt")
    wanted = {"dataset": dataset, "data_id": item, "memory_only": True}

    answer = client.post("/api/v1/forget", json=wanted)

    body = answer.json()
    assert (body["data_id"], body["data_records_reset"], body["status"]) == (item, 1, "success")
    assert texts(client, dataset) == ["Grace found a moth."]
    assert client.get("/api/v1/audit").json()["findings"] == []


@pytest.mark.parametrize("whole", [False, True], ids=["item", "dataset"])
def test_a_late_repetition_brings_nothing_back(client: httpx.Client, dataset: str, whole: bool) -> None:
    def write() -> httpx.Response:
        return client.post(
            "/api/v1/remember",
            data={"datasetName": dataset},
            files={"data": ("a.txt", STORY.encode())},
            headers={"Idempotency-Key": dataset},
        )

    first = write().json()
    wanted = {"dataset": dataset} if whole else {"dataset": dataset, "data_id": first["items"][0]["id"]}
    client.post("/api/v1/forget", json=wanted)

    again = write()

    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    assert "forgotten" in again.json()["detail"]
    assert "Initech" not in str(texts(client, dataset))


def test_a_late_repetition_in_a_session_brings_nothing_back(client: httpx.Client, dataset: str) -> None:
    def write() -> httpx.Response:
        sent = {"datasetName": dataset, "session_id": "s"}
        return client.post(
            "/api/v1/remember",
            data=sent,
            files={"raw_data": (None, STORY)},
            headers={"Idempotency-Key": dataset},
        )

    assert write().status_code == 200
    remember(client, dataset, text="Grace found a moth.")
    client.post("/api/v1/forget", json={"dataset": dataset})

    assert (write().status_code, write().json()["code"]) == (409, "conflict")
