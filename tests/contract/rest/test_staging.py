"""Content in two steps: added first, made searchable later; and replaced under its id."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract.program import Program, kill
from tests.contract.rest.test_datasets import NOBODYS
from tests.contract.rest.test_remember import STORY, remember


def add(
    client: httpx.Client, dataset: str, text: str = STORY, name: str = "a.txt", **fields: str
) -> httpx.Response:
    form = {"datasetName": dataset, **fields}
    return client.post("/api/v1/add", data=form, files={"data": (name, text.encode())})


def found(client: httpx.Client, dataset: str) -> httpx.Response:
    return client.post("/api/v1/recall", json={"query": "Who founded Initech?", "datasets": [dataset]})


def test_what_is_added_is_kept_and_not_found_until_it_is_taken_up(client: httpx.Client, dataset: str) -> None:
    """Contract: recorded cases add_ok, recall_uncognified, cognify_d1, cognify_again."""
    added = add(client, dataset).json()
    place, item = added["dataset_id"], added["data_ingestion_info"][0]["data_id"]
    (row,) = client.get(f"/api/v1/datasets/{place}/data").json()
    before = found(client, dataset)
    asked = {"dataset": place, "pipeline": ["add_pipeline", "cognify_pipeline"]}
    status = client.get("/api/v1/datasets/status", params=asked).json()

    first = client.post("/api/v1/cognify", json={"datasets": [dataset]}).json()[place]
    again = client.post("/api/v1/cognify", json={"datasetIds": [place]}).json()[place]

    assert (added["status"], row["isStaged"], row["isSearchable"]) == ("PipelineRunCompleted", True, False)
    assert (before.status_code, "run cognify" in before.json()["detail"]) == (404, True)
    assert status == {place: {"add_pipeline": "DATASET_PROCESSING_COMPLETED"}}
    assert first["status"] == "PipelineRunCompleted"
    assert [line["data_id"] for line in first["data_ingestion_info"]] == [item]
    assert [line["run_info"]["status"] for line in again["data_ingestion_info"]] == [
        "PipelineRunAlreadyCompleted"
    ]
    assert [entry["text"] for entry in found(client, dataset).json()] == [STORY]


def test_the_same_content_is_added_once_and_other_content_of_the_name_refused(
    client: httpx.Client, dataset: str
) -> None:
    """Contract: recorded cases add_same, add_same_content_othername, add_same_name_changed."""
    first = add(client, dataset).json()["data_ingestion_info"][0]
    same = add(client, dataset).json()["data_ingestion_info"][0]
    named = add(client, dataset, name="b.txt").json()["data_ingestion_info"][0]
    changed = add(client, dataset, text="Carol left Initech.")

    assert {each["data_id"] for each in (first, same, named)} == {first["data_id"]}
    assert same["run_info"]["status"] == named["run_info"]["status"] == "PipelineRunAlreadyCompleted"
    assert (changed.status_code, changed.json()["code"]) == (409, "document_exists")
    assert f"PATCH /api/v1/update?data_id={first['data_id']}" in changed.json()["detail"]


def test_of_several_items_those_that_fit_are_kept(client: httpx.Client, dataset: str) -> None:
    add(client, dataset)
    files = [("data", ("a.txt", b"Other content.")), ("data", ("b.txt", b"Ada wrote the first program."))]
    answer = client.post("/api/v1/add", data={"datasetName": dataset}, files=files)

    lines = [line["run_info"]["status"] for line in answer.json()["data_ingestion_info"]]
    assert (answer.status_code, answer.json()["status"]) == (409, "PipelineRunErrored")
    assert lines == ["PipelineRunErrored", "PipelineRunCompleted"]


def test_remembering_what_is_staged_takes_it_up(client: httpx.Client, dataset: str) -> None:
    staged = add(client, dataset).json()["data_ingestion_info"][0]["data_id"]

    body = remember(client, dataset).json()

    assert (body["status"], body["items"][0]["id"]) == ("completed", staged)
    assert [entry["text"] for entry in found(client, dataset).json()] == [STORY]


def test_labels_and_metadata_are_shown_with_their_item(client: httpx.Client, dataset: str) -> None:
    """Contract: recorded cases add_raw_labels, add_label_mismatch."""
    said = {"labels": '["lab"]', "external_metadata": '[{"s": 1}]'}
    place = add(client, dataset, **said).json()["dataset_id"]
    mismatch = add(client, dataset, labels='["a", "b"]')

    (row,) = client.get(f"/api/v1/datasets/{place}/data").json()
    assert (row["label"], row["externalMetadata"]) == ("lab", {"s": 1})
    assert mismatch.status_code == 400
    assert "got 2 labels for 1 items" in mismatch.json()["detail"]


def test_new_content_replaces_the_old_under_the_same_id(client: httpx.Client, dataset: str) -> None:
    body = remember(client, dataset).json()
    item, place = body["items"][0]["id"], body["dataset_id"]
    params = {"data_id": item, "dataset_id": place}

    answer = client.patch(
        "/api/v1/update", params=params, files={"data": ("renamed.txt", b"Carol founded Hooli in Vienna.")}
    )

    (row,) = client.get(f"/api/v1/datasets/{place}/data").json()
    assert answer.status_code == 200, answer.text
    assert answer.json()[place]["data_ingestion_info"][0]["data_id"] == item
    assert (row["id"], row["revision"], row["name"]) == (item, 2, "renamed.txt")
    assert [entry["text"] for entry in found(client, dataset).json()] == ["Carol founded Hooli in Vienna."]


def test_a_key_makes_each_of_the_three_safe_to_repeat(client: httpx.Client, dataset: str) -> None:
    key = {"Idempotency-Key": dataset}

    def send(text: str) -> httpx.Response:
        files = {"data": ("a.txt", text.encode())}
        return client.post("/api/v1/add", data={"datasetName": dataset}, files=files, headers=key)

    def take_up(**body: object) -> httpx.Response:
        return client.post("/api/v1/cognify", json={"datasets": [dataset], **body}, headers=key)

    added, again, other = send(STORY), send(STORY), send("Something else.")
    taken = take_up()
    add(client, dataset, text="Ada wrote the first program.", name="b.txt")
    repeated, conflict = take_up(), take_up(custom_prompt="x")

    assert again.json() == added.json()
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_conflict")
    assert repeated.json() == taken.json()
    assert (conflict.status_code, conflict.json()["code"]) == (422, "idempotency_conflict")


@pytest.mark.parametrize(
    ("method", "path", "request_", "status", "words"),
    [
        ("POST", "/add", {"data": {"datasetName": "d"}, "files": {"x": ("a", b"")}}, 400, "x:"),
        ("POST", "/add", {"files": {"data": ("a.txt", b"x")}}, 400, "Either datasetId or datasetName"),
        ("POST", "/add", {"data": {"datasetId": NOBODYS}, "files": {"data": ("a.txt", b"x")}}, 404, ""),
        ("POST", "/cognify", {"json": {}}, 400, "No datasets or dataset_ids provided"),
        ("POST", "/cognify", {"json": {"datasets": ["no such dataset"]}}, 404, ""),
        ("POST", "/cognify", {"json": {"datasets": ["d"], "chunk_size": 1}}, 400, "chunk_size"),
        ("PATCH", "/update", {"files": {"data": ("a.txt", b"x")}}, 400, "data_id"),
        (
            "PATCH",
            f"/update?data_id={NOBODYS}&dataset_id={NOBODYS}",
            {"files": {"data": ("a.txt", b"x")}},
            404,
            "",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(
    client: httpx.Client, method: str, path: str, request_: dict[str, Any], status: int, words: str
) -> None:
    answer = client.request(method, f"/api/v1{path}", **request_)

    assert answer.status_code == status, answer.text
    assert words in answer.json()["detail"]
    assert "d" not in [row["name"] for row in client.get("/api/v1/datasets").json()]


def test_what_was_added_outlives_the_process(tmp_path: Path) -> None:
    program = Program(tmp_path / "data folder")
    large = "\n".join(f"Line {number} tells of hedgehogs." for number in range(1_000))
    with program.serving(), program.client() as client:
        add(client, "notes")
        add(client, "notes", text=large, name="large.txt")
        kill(program.address.pid)

    with program.serving(), program.client() as client:
        run = next(iter(client.post("/api/v1/cognify", json={"datasets": ["notes"]}).json().values()))
        texts = [entry["text"] for entry in found(client, "notes").json()]

    assert run["status"] == "PipelineRunCompleted"
    assert len(run["data_ingestion_info"]) == 2
    assert STORY in texts


def _about(client: httpx.Client, dataset_id: str) -> tuple[object, object]:
    (item,) = client.get(f"/api/v1/datasets/{dataset_id}/data").json()
    return item["label"], item["externalMetadata"]


def test_labels_and_metadata_stay_until_they_are_given_anew(client: httpx.Client, dataset: str) -> None:
    said = {"labels": "minutes", "external_metadata": '[{"by": "Ada"}]'}
    body = remember(client, dataset, text="Ada chose Lisbon.", **said).json()
    where = {"data_id": body["items"][0]["id"], "dataset_id": body["dataset_id"]}

    remember(client, dataset, text="Ada chose Porto.")
    after_again = _about(client, body["dataset_id"])
    client.patch("/api/v1/update", params=where, files={"data": ("a.txt", b"Ada chose Faro.")})
    after_update = _about(client, body["dataset_id"])
    given = {"labels": "", "external_metadata": '[{"by": "Grace"}]'}
    client.patch("/api/v1/update", params=where, data=given, files={"data": ("a.txt", b"Ada chose Braga.")})

    assert after_again == after_update == ("minutes", {"by": "Ada"})
    assert _about(client, body["dataset_id"]) == (None, {"by": "Grace"})


TALK = b'[{"speaker": "Ada", "text": "I moved to Lisbon.", "time": "2026-01-05T10:00:00Z"}]'


def test_a_chat_of_the_same_name_replaces_the_former_and_stays_a_chat(
    client: httpx.Client, dataset: str
) -> None:
    first = remember(client, dataset, text=TALK.decode(), name="talk.json", kind="chat").json()
    later = TALK.replace(b"Lisbon", b"Porto")

    second = remember(client, dataset, text=later.decode(), name="talk.json", kind="chat").json()
    where = {"data_id": first["items"][0]["id"], "dataset_id": first["dataset_id"]}
    last = TALK.replace(b"Lisbon", b"Faro")
    client.patch("/api/v1/update", params=where, files={"data": ("talk.json", last)})

    assert second["items"][0]["id"] == first["items"][0]["id"]
    found = client.post("/api/v1/recall", json={"query": "Where is Ada?", "datasets": [dataset]}).json()
    assert [entry["text"] for entry in found] == ["I moved to Faro."]
    assert found[0]["metadata"]["speaker"] == "Ada"
