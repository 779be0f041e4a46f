import httpx
import pytest

from tests.contract.rest.test_remember import remember
from tests.promises import promise


def recalled(client: httpx.Client, dataset: str) -> list[str]:
    body = {"query": "Who keeps the lighthouse?", "datasets": [dataset]}
    return [each["text"] for each in client.post("/api/v1/recall", json=body).json()]


@promise("P3")
def test_a_suppressed_item_is_not_recalled_until_it_is_restored(client: httpx.Client, dataset: str) -> None:
    body = remember(client, dataset, text="Ada keeps the lighthouse.", name="a.txt").json()
    item = f"/api/v1/datasets/{body['dataset_id']}/data/{body['items'][0]['id']}"
    listed = f"/api/v1/datasets/{body['dataset_id']}/data"

    suppressed = client.post(f"{item}/suppress")

    assert (suppressed.status_code, suppressed.json()["kind"]) == (200, "suppress")
    assert "Ada keeps the lighthouse." not in recalled(client, dataset)
    assert client.get(listed).json()[0]["isSuppressed"] is True
    assert client.get(f"{item}/raw").json()["code"] == "conflict"
    restored = client.post(f"{item}/restore")
    assert (restored.status_code, restored.json()["stage"]) == (200, "complete")
    assert "Ada keeps the lighthouse." in recalled(client, dataset)
    assert client.get(listed).json()[0]["isSuppressed"] is False


@pytest.mark.parametrize("verb", ["suppress", "restore"])
def test_what_is_not_there_is_not_found(client: httpx.Client, dataset: str, verb: str) -> None:
    body = remember(client, dataset).json()

    answers = [
        client.post(f"/api/v1/datasets/{body['dataset_id']}/data/nobody/{verb}"),
        client.post(f"/api/v1/datasets/nobody/data/{body['items'][0]['id']}/{verb}"),
    ]

    assert [(each.status_code, each.json()["code"]) for each in answers] == [(404, "not_found")] * 2
