"""The graph of a dataset page by page, and a search grouped by dataset."""

import httpx
import pytest

from tests.contract.rest.test_datasets import NOBODYS
from tests.contract.rest.test_remember import STORY, remember


def test_the_graph_shows_what_hangs_together(client: httpx.Client, dataset: str) -> None:
    body = remember(client, dataset).json()

    graph = client.get(f"/api/v1/datasets/{body['dataset_id']}/graph").json()

    types = {node["type"] for node in graph["nodes"]}
    ids = {node["id"] for node in graph["nodes"]}
    assert {"TextDocument", "DocumentChunk", "Entity"} <= types
    assert STORY in [node["properties"].get("text") for node in graph["nodes"]]
    assert {"Carol", "Initech"} & {node["label"] for node in graph["nodes"]}
    assert {edge["label"] for edge in graph["edges"]} >= {"is_part_of", "contains"}
    assert {edge["source"] for edge in graph["edges"]} | {edge["target"] for edge in graph["edges"]} <= ids


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_of_every_size_show_the_same_graph(client: httpx.Client, dataset: str, limit: int) -> None:
    text = "\n\n".join(f"# Part {number}\n\n{STORY} It has room {number}." * 6 for number in range(3))
    place = remember(client, dataset, text=f"a {text}", name="a.md").json()["dataset_id"]
    remember(client, dataset, text=f"b {text}", name="b.md")
    client.post("/api/v1/add", data={"datasetName": dataset}, files={"data": ("staged.txt", b"Not yet.")})

    chunks: list[str] = []
    documents: set[str] = set()
    params = {"limit": str(limit)}
    while True:
        answer = client.get(f"/api/v1/datasets/{place}/graph", params=params)
        nodes = answer.json()["nodes"]
        chunks += [node["id"] for node in nodes if node["type"] == "DocumentChunk"]
        documents |= {node["id"] for node in nodes if node["type"] == "TextDocument"}
        assert len([node for node in nodes if node["type"] == "DocumentChunk"]) <= limit
        if "x-next-cursor" not in answer.headers:
            break
        params["cursor"] = answer.headers["x-next-cursor"]

    rows = {row["name"]: row for row in client.get("/api/v1/datasets").json()}
    assert len(chunks) == len(set(chunks)) == rows[dataset]["passages"]
    assert len(documents) == 3


def test_what_is_forgotten_is_in_no_graph(client: httpx.Client, dataset: str) -> None:
    body = remember(client, dataset).json()
    client.delete(f"/api/v1/datasets/{body['dataset_id']}/data/{body['items'][0]['id']}")

    assert client.get(f"/api/v1/datasets/{body['dataset_id']}/graph").json() == {"nodes": [], "edges": []}


def test_a_search_groups_what_it_finds_by_dataset(client: httpx.Client, dataset: str) -> None:
    """Contract: recorded case search_CHUNKS."""
    other = f"{dataset} 2"
    for name in (dataset, other):
        remember(client, name)
    asked = {"query": "Who founded Initech?", "search_type": "CHUNKS", "datasets": [dataset, other]}

    groups = client.post("/api/v1/search", json=asked).json()

    assert {group["dataset_name"] for group in groups} == {dataset, other}
    assert [[hit["text"] for hit in group["search_result"]] for group in groups] == [[STORY], [STORY]]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"query": "x", "search_type": "NOPE"}, 400),
        ({"query": "x", "search_type": "CYPHER"}, 403),
        ({"query": "x", "skills": []}, 400),
        ({"query": "x", "datasets": ["no such dataset"]}, 404),
    ],
)
def test_a_search_that_cannot_be_meant_is_refused(
    client: httpx.Client, body: dict[str, object], status: int
) -> None:
    assert client.post("/api/v1/search", json=body).status_code == status


@pytest.mark.parametrize("query", ["", "?limit=0", "?limit=501", "?cursor=x"])
def test_a_graph_that_is_not_there_or_too_large_is_refused(
    client: httpx.Client, dataset: str, query: str
) -> None:
    place = NOBODYS if not query else remember(client, dataset).json()["dataset_id"]

    answer = client.get(f"/api/v1/datasets/{place}/graph{query}")

    assert answer.status_code == (400 if query else 404)
