"""REST and MCP say the same of somebody else's thing as of one that never was: status, headers and body.

Whatever a new route or tool lets a caller name belongs into the lists below.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest

from dormouse_gateway.contracts.graph.rest import rest_routes
from dormouse_gateway.settings import GatewaySettings
from tests.contract.mcp.talk import a_call
from tests.contract.program import Program
from tests.promises import promise

NAME = "the neighbours"
TEXT = "The spare key lies under the third flower pot."
PER_ANSWER = {"x-request-id", "date", "content-length"}


@dataclass(frozen=True, slots=True)
class Things:
    """What a question may name; all but `own` are one other user's, or nobody's."""

    dataset: str
    name: str
    document: str
    job: str
    session: str
    ontology: str
    own: str  # a dataset of the one who asks

    def put_into(self, template: str) -> str:
        return (
            template.replace("{dataset}", self.dataset)
            .replace("{own}", self.own)
            .replace("{session}", self.session)
            .replace("{name}", self.name)
            .replace("{document}", self.document)
            .replace("{job}", self.job)
            .replace("{ontology}", self.ontology)
            .replace("{user}", "ada")
        )

    def taken_out_of(self, said: str) -> str:
        for thing in (self.dataset, self.name, self.document, self.job, self.session, self.ontology):
            said = said.replace(thing, "…")
        return said


REST: list[tuple[str, str, dict[str, Any] | list[str] | None]] = [
    ("GET", "/datasets/{dataset}/data", None),
    ("GET", "/datasets/{name}/data", None),
    ("GET", "/datasets/{dataset}/data/count", None),
    ("GET", "/datasets/{dataset}/data/{document}", None),
    ("GET", "/datasets/{own}/data/{document}", None),
    ("GET", "/datasets/{dataset}/data/{document}/raw", None),
    ("GET", "/datasets/{own}/data/{document}/raw", None),
    ("GET", "/datasets/{dataset}/processing-status", None),
    ("GET", "/datasets/status?dataset={dataset}", None),
    ("GET", "/datasets/status/progress?dataset={dataset}", None),
    ("POST", "/datasets/{dataset}/data/{document}/suppress", None),
    ("POST", "/datasets/{own}/data/{document}/suppress", None),
    ("POST", "/datasets/{dataset}/data/{document}/restore", None),
    ("POST", "/datasets/{own}/data/{document}/restore", None),
    ("GET", "/sessions/{session}", None),
    ("DELETE", "/sessions/{session}", None),
    ("POST", "/recall", {"query": "spare key", "sessionId": "{session}"}),
    ("DELETE", "/datasets/{dataset}/data/{document}", None),
    ("DELETE", "/datasets/{own}/data/{document}", None),
    ("DELETE", "/datasets/{dataset}", None),
    ("GET", "/jobs/{job}", None),
    ("GET", "/jobs/{job}?wait=1", None),
    ("POST", "/jobs/{job}/cancel", None),
    ("POST", "/jobs/{job}/retry", None),
    ("GET", "/datasets/{dataset}/graph", None),
    ("GET", "/datasets/{dataset}/grants", None),
    ("POST", "/permissions/datasets/{user}?permission_name=read", ["{dataset}"]),
    ("DELETE", "/permissions/datasets/{user}?permission_name=read", ["{dataset}"]),
    ("GET", "/ontologies/{ontology}", None),
    ("DELETE", "/ontologies/{ontology}", None),
    ("GET", "/jobs?dataset={dataset}", None),
    ("GET", "/jobs?dataset={name}", None),
    ("GET", "/export?dataset={dataset}", None),
    ("GET", "/export?dataset={name}", None),
    ("POST", "/forget", {"datasetId": "{dataset}"}),
    ("POST", "/forget", {"dataset": "{name}"}),
    ("POST", "/forget", {"datasetId": "{dataset}", "dataId": "{document}"}),
    ("POST", "/forget", {"dataset": "own", "dataId": "{document}"}),
    ("POST", "/recall", {"query": "spare key", "datasetIds": ["{dataset}"]}),
    ("POST", "/recall", {"query": "spare key", "datasets": ["{name}"]}),
    ("POST", "/recall", {"query": "spare key", "datasets": ["own", "{dataset}"]}),
]
MCP: list[tuple[str, dict[str, Any]]] = [
    ("recall", {"query": "spare key", "datasets": "{dataset}"}),
    ("recall", {"query": "spare key", "datasets": "own,{name}"}),
    ("forget", {"dataset_id": "{dataset}"}),
    ("forget", {"dataset": "{name}"}),
    ("forget", {"dataset_id": "{dataset}", "data_id": "{document}"}),
    ("forget", {"dataset": "own", "data_id": "{document}"}),
    ("cognify_status", {"dataset_name": "{dataset}"}),
    ("cognify_status", {"dataset_name": "{name}"}),
]


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, httpx.Client]]:
    """Two users of one server, the first of them the stranger; each has their own key."""
    folder = tmp_path_factory.mktemp("isolation")
    file = folder / "keys.json"
    program = Program(folder / "data", {"DORMOUSE_API_KEYS_FILE": str(file)})
    keys = [
        program.run("keys", "create", "--user", user, "--file", str(file)).stdout.strip()
        for user in ("ada", "grace")
    ]
    with (
        program.serving(),
        program.client(**{"X-Api-Key": keys[0]}) as ada,
        program.client(**{"X-Api-Key": keys[1]}) as grace,
    ):
        yield ada, grace


@pytest.fixture(scope="module")
def somebodys(users: tuple[httpx.Client, httpx.Client]) -> Things:
    """Everything a stranger could have heard of; the other user has a dataset too."""
    ada, grace = users
    own = _remember(grace, "own", "Grace waters the plants.")["dataset_id"]
    kept = _remember(ada, NAME, TEXT)
    form = {"datasetName": NAME, "session_id": "locks"}
    said = ada.post("/api/v1/remember", data=form, files={"raw_data": (None, b"The lock is rusty.")})
    assert said.status_code == 200, said.text
    words = (
        b"<urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/2002/07/owl#Class> .\n"
    )
    ontology = {"ontology_file": ("a.nt", words)}
    kept_words = ada.post("/api/v1/ontologies", data={"ontology_key": "botany"}, files=ontology)
    assert kept_words.status_code == 200, kept_words.text
    (job,) = ada.get("/api/v1/jobs").json()["jobs"]
    return Things(kept["dataset_id"], NAME, kept["items"][0]["id"], job["id"], "locks", "botany", own)


@pytest.fixture(scope="module")
def nobodys(somebodys: Things) -> Things:
    return Things(
        str(uuid4()), "no such name", str(uuid4()), str(uuid4()), "no talk", "no words", somebodys.own
    )


@promise("P5")
@pytest.mark.parametrize(("method", "path", "body"), REST)
def test_a_route_does_not_tell_a_strangers_thing_from_nothing(
    users: tuple[httpx.Client, httpx.Client],
    somebodys: Things,
    nobodys: Things,
    method: str,
    path: str,
    body: dict[str, Any] | list[str] | None,
) -> None:
    _, grace = users

    def said_of(things: Things) -> object:
        content = things.put_into(json.dumps(body)) if body else None
        json_type = {"content-type": "application/json"}
        address = "/api/v1" + things.put_into(path)
        return _said(grace.request(method, address, content=content, headers=json_type), things)

    assert said_of(somebodys) == said_of(nobodys)


@promise("P5")
def test_nobody_can_write_into_a_strangers_dataset_by_its_id(
    users: tuple[httpx.Client, httpx.Client], somebodys: Things, nobodys: Things
) -> None:
    _, grace = users

    def said_of(things: Things) -> object:
        form = {"datasetId": things.dataset}
        return _said(grace.post("/api/v1/remember", data=form, files={"data": ("a.txt", b"Mine.")}), things)

    assert said_of(somebodys) == said_of(nobodys)


@promise("P5")
@pytest.mark.parametrize(("tool", "arguments"), MCP)
def test_a_tool_does_not_tell_a_strangers_thing_from_nothing(
    users: tuple[httpx.Client, httpx.Client],
    somebodys: Things,
    nobodys: Things,
    tool: str,
    arguments: dict[str, Any],
) -> None:
    _, grace = users

    def said_of(things: Things) -> object:
        message = json.loads(things.put_into(json.dumps(a_call(tool, arguments))))
        answer = grace.post("/mcp", json=message, headers={"accept": "application/json, text/event-stream"})
        return answer.status_code, things.taken_out_of(answer.text)

    assert said_of(somebodys) == said_of(nobodys)


@promise("P5")
def test_lists_and_counts_do_not_move_with_what_others_store(
    users: tuple[httpx.Client, httpx.Client], somebodys: Things
) -> None:
    ada, grace = users
    paths = ("/api/v1/datasets", "/api/v1/jobs", "/api/v1/status", "/api/v1/sessions")
    before = [grace.get(path).text for path in paths]
    _remember(ada, NAME, "The cellar key hangs behind the clock.")

    assert [grace.get(path).text for path in paths] == before


@promise("P5")
def test_the_owner_is_told_more_than_the_stranger(
    users: tuple[httpx.Client, httpx.Client], somebodys: Things
) -> None:
    """Else the tests above would pass on a server that answers nobody."""
    ada, grace = users
    path = f"/api/v1/datasets/{somebodys.dataset}/data"

    assert ada.get(path).status_code == 200
    assert grace.get(path).status_code == 404


def test_every_route_with_a_thing_in_its_path_is_asked_about() -> None:
    routes = rest_routes(_no_engine, GatewaySettings())
    named = {
        (method, _shape(route.path)) for route in routes for method in route.methods or () if "{" in route.path
    }

    asked = {(method, _shape(f"/api/v1{path}")) for method, path, _ in REST}

    assert {each for each in named if each[0] != "HEAD"} <= asked, "add the route to REST above"


def _shape(path: str) -> str:
    """The path with a star for whatever it names."""
    parts = path.partition("?")[0].split("/")
    return "/".join("*" if part.startswith("{") else part for part in parts)


def _no_engine() -> Any:  # noqa: ANN401 - never called
    raise AssertionError("no route is called here")


def _remember(client: httpx.Client, dataset: str, text: str) -> dict[str, Any]:
    answer = client.post(
        "/api/v1/remember", data={"datasetName": dataset}, files={"data": ("note.txt", text.encode())}
    )
    assert answer.status_code == 200, answer.text
    kept: dict[str, Any] = answer.json()
    return kept


def _said(answer: httpx.Response, things: Things) -> object:
    """Status, headers and body, without what was asked for and what is new in every answer."""
    headers = {name: value for name, value in answer.headers.items() if name not in PER_ANSWER}
    body = json.loads(things.taken_out_of(answer.text))
    if isinstance(body, dict):
        body.pop("request_id", None)
    return answer.status_code, headers, body
