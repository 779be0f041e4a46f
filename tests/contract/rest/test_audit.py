import httpx

from tests.contract.rest.test_remember import remember
from tests.promises import promise


@promise("P4")
def test_a_sound_memory_has_no_findings_and_needs_no_repair(client: httpx.Client, dataset: str) -> None:
    remember(client, dataset)

    report = client.get("/api/v1/audit")
    repaired = client.post("/api/v1/repair")

    assert report.status_code == 200, report.text
    assert (report.json()["isSound"], report.json()["findings"]) == (True, [])
    assert report.json()["documents"] >= 1
    assert (repaired.status_code, repaired.json()["jobs"]) == (200, [])
    assert repaired.json()["after"]["isSound"] is True


def test_a_forgotten_dataset_is_not_counted(client: httpx.Client, dataset: str) -> None:
    remember(client, dataset)
    before = client.get("/api/v1/audit").json()["datasets"]

    client.post("/api/v1/forget", json={"dataset": dataset})

    assert client.get("/api/v1/audit").json()["datasets"] == before - 1
