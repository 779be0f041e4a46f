import httpx
import pytest

from tests.contract.rest.test_remember import remember

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
    [{}, {"data_id": NOBODY}, {"dataset": "d", "dataset_id": NOBODY}, {"dataset": "d", "everything": True}],
)
def test_a_forget_without_one_target_is_refused_in_the_recorded_words(
    client: httpx.Client, body: dict[str, object]
) -> None:
    answer = client.post("/api/v1/forget", json=body)

    assert answer.status_code == 422
    assert answer.json()["detail"] == (
        "Invalid request parameters. Specify dataset or dataset_id, data_id+dataset, or everything=True."
    )
