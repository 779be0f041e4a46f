"""Receipts name their item, and can be tried again or stopped in time."""

import httpx
import pytest

from tests.contract.rest.test_datasets import NOBODYS
from tests.contract.rest.test_remember import remember

LONG = "\n\n".join(f"Paragraph {number} tells of the harbour and of rain." * 8 for number in range(400))


def test_a_job_names_its_item(client: httpx.Client, dataset: str) -> None:
    body = remember(client, dataset, name="notes/a.txt").json()

    (row,) = client.get("/api/v1/jobs", params={"dataset": dataset}).json()["jobs"]

    assert (row["documentId"], row["documentName"]) == (body["items"][0]["id"], "notes/a.txt")


def test_a_failed_job_is_tried_again_as_a_new_one(client: httpx.Client, dataset: str) -> None:
    failed = remember(client, dataset, name="broken.pdf").json()["pipeline_run_id"]
    key = {"Idempotency-Key": dataset}

    first, again = (client.post(f"/api/v1/jobs/{failed}/retry", headers=key) for _ in range(2))
    other = client.post(f"/api/v1/jobs/{first.json()['id']}/retry", headers=key)

    assert (first.status_code, first.json()["retryOf"]) == (200, failed)
    assert again.json()["id"] == first.json()["id"]
    assert (other.status_code, other.json()["code"]) in {(422, "idempotency_conflict"), (409, "conflict")}


def test_what_did_not_fail_is_not_tried_again(client: httpx.Client, dataset: str) -> None:
    job = remember(client, dataset).json()["pipeline_run_id"]

    answer = client.post(f"/api/v1/jobs/{job}/retry")

    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def test_a_job_is_stopped_before_its_content_is_searchable(client: httpx.Client, dataset: str) -> None:
    body = remember(client, dataset, text=LONG, run_in_background="true").json()
    job = body["pipeline_run_id"]

    first, again = (client.post(f"/api/v1/jobs/{job}/cancel") for _ in range(2))

    assert first.status_code == again.status_code == 200, first.text
    assert (first.json()["stage"], first.json()["cancelReason"]) == ("cancelled", "by_owner")
    (item,) = client.get(f"/api/v1/datasets/{body['dataset_id']}/data").json()
    assert not item["isSearchable"]


def test_what_is_searchable_is_not_stopped(client: httpx.Client, dataset: str) -> None:
    job = remember(client, dataset).json()["pipeline_run_id"]

    answer = client.post(f"/api/v1/jobs/{job}/cancel")

    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


@pytest.mark.parametrize("deed", ["retry", "cancel"])
def test_a_job_of_nobody_is_not_found(client: httpx.Client, deed: str) -> None:
    answer = client.post(f"/api/v1/jobs/{NOBODYS}/{deed}")

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
