"""What a recall says of what it found, and why it found nothing."""

import httpx

from tests.contract.rest.test_remember import remember

ENTRY_TYPES = "entry: must have as its type one of 'qa', 'trace', 'feedback'"


def recall(client: httpx.Client, query: str, *datasets: str) -> list[dict[str, object]]:
    answer = client.post("/api/v1/recall", json={"query": query, "datasets": list(datasets)})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, object]] = answer.json()
    return found


def test_an_item_that_could_not_be_read_is_named_where_nothing_was_found(
    client: httpx.Client, dataset: str
) -> None:
    remember(client, dataset, text="no pdf", name="broken.pdf")

    (entry,) = recall(client, "quarterly figures", dataset)

    assert (entry["source"], entry["status"]) == ("system", "build_failed")
    assert str(entry["error_message"]).startswith("broken.pdf is not searched: ")


def test_what_was_forgotten_is_not_warming_up(client: httpx.Client, dataset: str) -> None:
    body = remember(client, dataset).json()
    client.post("/api/v1/forget", json={"dataset": dataset, "data_id": body["items"][0]["id"]})

    assert recall(client, "Who founded Initech?", dataset) == []


def test_a_blank_question_and_a_field_given_twice_are_refused(client: httpx.Client, dataset: str) -> None:
    for route, body, words in (
        ("recall", {"query": " \n"}, "query: must not be blank"),
        ("search", {"query": "\t"}, "query: must not be blank"),
        ("recall", {"query": "x", "topK": 3, "top_k": 4}, "topK must be given once, not as top_k too"),
        ("recall", {"query": "x", "topK": True}, "topK: must be an integer"),
        ("forget", {"dataset": "x", "dataId": "7"}, "dataId: must be an id (a UUID)"),
        ("remember/entry", {"session_id": "s", "entry": {"type": "secret"}}, ENTRY_TYPES),
    ):
        answer = client.post(f"/api/v1/{route}", json=body)
        assert (answer.status_code, answer.json()["detail"]) == (400, words)
