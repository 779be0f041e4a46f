"""Ontologies over REST and in what is remembered. Source: recorded cases onto_* and remember_*ontology."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract.rest.test_recorded import fields, lacking

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "recorded" / "rest_ontologies_and_grants.json").read_text(encoding="utf-8")
)

CARS = b"""@prefix : <http://example.org/c#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:Car a owl:Class . :XC90 a :Car .
"""


def upload(
    client: httpx.Client, key: str, content: bytes = CARS, name: str = "cars.ttl", **more: str
) -> httpx.Response:
    form: dict[str, Any] = {"ontology_key": (None, key.encode()), "ontology_file": (name, content)}
    return client.post(
        "/api/v1/ontologies", files={**form, **{field: (None, v.encode()) for field, v in more.items()}}
    )


def remember(client: httpx.Client, dataset: str, text: str, *keys: str, **more: str) -> httpx.Response:
    form: list[tuple[str, Any]] = [
        ("datasetName", (None, dataset.encode())),
        ("raw_data", (None, text.encode())),
    ]
    form += [("ontology_key", (None, key.encode())) for key in keys]
    form += [(field, (None, value.encode())) for field, value in more.items()]
    return client.post("/api/v1/remember", files=form)


@pytest.fixture
def key(dataset: str) -> str:
    return dataset.replace("[", ".").replace("]", "")[:100]


def test_uploading_listing_and_deleting_answer_as_recorded(client: httpx.Client, key: str) -> None:
    uploaded = upload(client, key, description="d")
    listed = client.get("/api/v1/ontologies")
    file = client.get(f"/api/v1/ontologies/{key}")
    deleted = client.delete(f"/api/v1/ontologies/{key}")

    for case, answer in {"onto_upload": uploaded, "onto_del": deleted}.items():
        assert answer.status_code == RECORDED[case]["status"]
        assert lacking(fields(RECORDED[case]["body"]), fields(answer.json())) == []
    assert fields(listed.json()[key]) == fields(RECORDED["onto_list"]["body"]["k1"])
    assert file.content == CARS
    assert key not in client.get("/api/v1/ontologies").json()


def test_refusals_have_the_recorded_words(client: httpx.Client, key: str) -> None:
    upload(client, key)

    taken, unknown = upload(client, key), client.delete("/api/v1/ontologies/zz")

    for case, answer in {"onto_dup": taken, "onto_del_unknown": unknown}.items():
        assert answer.status_code == RECORDED[case]["status"]
        assert answer.json()["detail"] == RECORDED[case]["body"]["error"]


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [
        ("a b", CARS, 400),
        ("", CARS, 400),
        ("bomb", b'<!DOCTYPE r [ <!ENTITY a "&b;"> ]><r/>', 422),
        ("none", b"", 422),
        ("large", b"#" * (5 * 1024 * 1024 + 1), 413),
    ],
)
def test_what_breaks_a_rule_is_not_kept(client: httpx.Client, name: str, content: bytes, status: int) -> None:
    answer = upload(client, name, content, "cars.owl")

    assert answer.status_code == status
    assert name not in client.get("/api/v1/ontologies").json()


def test_what_is_remembered_is_held_under_its_names(client: httpx.Client, dataset: str, key: str) -> None:
    upload(client, key)

    receipt = remember(client, dataset, "we sold the xc90", key).json()

    rows = client.get("/api/v1/export", params={"dataset": receipt["dataset_id"]}).text
    assert '"name": "XC90", "kind": "Car"' in rows
    assert '"name": "is_a"' in rows


def test_an_unknown_key_is_refused_in_the_recorded_words_before_anything_is_stored(
    client: httpx.Client, dataset: str
) -> None:
    answer = remember(client, dataset, "x", "nokey")

    assert answer.status_code == RECORDED["remember_unknown_ontology"]["status"]
    assert answer.json()["detail"] == RECORDED["remember_unknown_ontology"]["body"]["error"]
    assert dataset not in [each["name"] for each in client.get("/api/v1/datasets").json()]


def test_a_session_takes_none(client: httpx.Client, dataset: str) -> None:
    answer = remember(client, dataset, "x", "k", session_id=dataset)

    assert answer.status_code == RECORDED["remember_session_ontology"]["status"]
    assert answer.json()["detail"] == RECORDED["remember_session_ontology"]["body"]["detail"]


def test_the_graph_shows_kinds_and_is_a_edges(client: httpx.Client, dataset: str, key: str) -> None:
    upload(client, key)
    place = remember(client, dataset, "we sold the xc90", key).json()["dataset_id"]

    graph = client.get(f"/api/v1/datasets/{place}/graph").json()

    named = {node["label"]: node for node in graph["nodes"] if node["type"] == "Entity"}
    assert named["XC90"]["properties"]["kind"] == "Car"
    edge = {"source": named["XC90"]["id"], "target": named["Car"]["id"], "label": "is_a"}
    assert edge in graph["edges"]
