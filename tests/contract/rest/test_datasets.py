"""Datasets and the items in them: made, counted, listed, downloaded, erased one by one."""

import httpx
import pytest

from tests.contract.rest.test_remember import STORY, remember

NOBODYS = "9d6d85c4-3b04-4c34-aac4-06a145dcd1fa"


def test_a_dataset_is_made_once(client: httpx.Client, dataset: str) -> None:
    first = client.post("/api/v1/datasets", json={"name": dataset})
    again = client.post("/api/v1/datasets", json={"name": dataset})

    assert first.status_code == 200
    assert again.json() == first.json()
    assert dataset in [row["name"] for row in client.get("/api/v1/datasets").json()]


def test_a_key_for_another_dataset_is_refused(client: httpx.Client, dataset: str) -> None:
    key = {"Idempotency-Key": dataset}
    first, again = (client.post("/api/v1/datasets", json={"name": dataset}, headers=key) for _ in range(2))
    other = client.post("/api/v1/datasets", json={"name": f"{dataset} 2"}, headers=key)

    assert again.json() == first.json()
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_conflict")


@pytest.mark.parametrize("body", [{}, {"name": ""}, {"name": " "}, {"name": "a,b"}, {"name": "x" * 201}])
def test_a_name_that_could_not_be_used_is_refused(client: httpx.Client, body: dict[str, str]) -> None:
    answer = client.post("/api/v1/datasets", json=body)

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")


def test_a_new_dataset_has_no_status_until_something_is_remembered(client: httpx.Client, dataset: str) -> None:
    made = client.post("/api/v1/datasets", json={"name": dataset}).json()["id"]
    asked = {"dataset": made, "pipeline": ["add_pipeline", "cognify_pipeline", "other"]}
    before = client.get("/api/v1/datasets/status", params=asked).json()

    remember(client, dataset)

    assert before == {}
    assert client.get("/api/v1/datasets/status", params=asked).json() == {
        made: {
            "add_pipeline": "DATASET_PROCESSING_COMPLETED",
            "cognify_pipeline": "DATASET_PROCESSING_COMPLETED",
        }
    }
    assert client.get("/api/v1/datasets/status/progress", params={"dataset": made}).json() == {
        made: {"status": "DATASET_PROCESSING_COMPLETED", "progress": None}
    }


def test_what_was_forgotten_as_a_whole_has_no_status_when_it_is_made_again(
    client: httpx.Client, dataset: str
) -> None:
    made = remember(client, dataset).json()["dataset_id"]
    client.post("/api/v1/forget", json={"dataset": dataset})
    client.post("/api/v1/datasets", json={"name": dataset})

    assert client.get("/api/v1/datasets/status", params={"dataset": made}).json() == {}


def test_an_item_that_cannot_be_read_is_an_error_in_the_status(client: httpx.Client, dataset: str) -> None:
    body = remember(client, dataset, name="broken.pdf").json()

    assert client.get("/api/v1/datasets/status", params={"dataset": body["dataset_id"]}).json() == {
        body["dataset_id"]: "DATASET_PROCESSING_ERRORED"
    }
    (row,) = client.get(f"/api/v1/datasets/{body['dataset_id']}/processing-status").json()["items"]
    assert not row["completed"]


def test_an_item_says_its_size_and_is_downloaded_as_it_came(client: httpx.Client, dataset: str) -> None:
    body = remember(client, dataset, text="<script>alert(1)</script> für Ada", name="notes/a é.html").json()
    place = f"/api/v1/datasets/{body['dataset_id']}/data/{body['items'][0]['id']}"

    item, raw = client.get(place).json(), client.get(f"{place}/raw")

    assert item["dataSize"] == len(raw.content)
    assert raw.content.decode() == "<script>alert(1)</script> für Ada"
    assert raw.headers["content-disposition"] == "attachment; filename*=UTF-8''a%20%C3%A9.html"
    assert raw.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in raw.headers["content-security-policy"]
    assert client.get(f"/api/v1/datasets/{body['dataset_id']}/data/count").json() == {"count": 1}


def test_a_large_original_comes_back_whole(client: httpx.Client, dataset: str) -> None:
    text = "\n".join(f"Line {number} tells of hedgehogs." for number in range(2_000))
    body = remember(client, dataset, text=text, run_in_background="true").json()

    raw = client.get(f"/api/v1/datasets/{body['dataset_id']}/data/{body['items'][0]['id']}/raw")

    assert raw.text == text


def test_one_item_is_erased_and_the_other_stays(client: httpx.Client, dataset: str) -> None:
    first = remember(client, dataset).json()
    remember(client, dataset, text="Ada wrote the first program.", name="b.txt")
    place = f"/api/v1/datasets/{first['dataset_id']}/data"

    gone = client.delete(f"{place}/{first['items'][0]['id']}")
    again = client.delete(f"{place}/{first['items'][0]['id']}")

    assert (gone.status_code, gone.json(), again.status_code) == (200, None, 200)
    assert [row["name"] for row in client.get(place).json()] == ["b.txt"]
    found = client.post("/api/v1/recall", json={"query": STORY, "datasets": [dataset]}).json()
    assert STORY not in [entry["text"] for entry in found]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"/api/v1/datasets/status?dataset={NOBODYS}"),
        ("GET", f"/api/v1/datasets/{NOBODYS}/data"),
        ("GET", f"/api/v1/datasets/{NOBODYS}/data/count"),
        ("GET", f"/api/v1/datasets/{NOBODYS}/data/{NOBODYS}"),
        ("GET", f"/api/v1/datasets/{NOBODYS}/data/{NOBODYS}/raw"),
        ("GET", f"/api/v1/datasets/{NOBODYS}/processing-status"),
        ("DELETE", f"/api/v1/datasets/{NOBODYS}/data/{NOBODYS}"),
    ],
)
def test_a_dataset_of_nobody_is_not_found(client: httpx.Client, method: str, path: str) -> None:
    answer = client.request(method, path)

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
