import json

import httpx

from tests.contract.rest.test_remember import remember


def export(client: httpx.Client, **params: str) -> list[dict[str, object]]:
    answer = client.get("/api/v1/export", params=params)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


def test_an_export_has_a_head_rows_and_an_end_that_counts_them(client: httpx.Client, dataset: str) -> None:
    body = remember(client, dataset, text="Ada lives in London.", name="a.txt").json()

    head, *rows, end = export(client, dataset=dataset)

    assert (head["row"], head["version"]) == ("export", 1)
    assert (end["row"], end["rows"]) == ("end", len(rows))
    assert [row["id"] for row in rows if row["row"] == "document"] == [body["items"][0]["id"]]
    assert [row["text"] for row in rows if row["row"] == "passage"] == ["Ada lives in London."]
    assert not any("vectors" in row for row in rows)


def test_vectors_come_when_asked_for(client: httpx.Client, dataset: str) -> None:
    remember(client, dataset)

    rows = export(client, dataset=dataset, vectors="true")

    (passage,) = (row for row in rows if row["row"] == "passage")
    assert isinstance(passage["vectors"], dict)
    assert {"dense", "tokens", "terms", "window_terms"} == set(passage["vectors"])


def test_a_dataset_of_nobody_is_not_exported(client: httpx.Client) -> None:
    answer = client.get("/api/v1/export", params={"dataset": "nobody's"})

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_flag_that_is_none_is_refused(client: httpx.Client) -> None:
    answer = client.get("/api/v1/export", params={"vectors": "perhaps"})

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")
