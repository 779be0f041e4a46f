"""The recorded session of the reference, call by call against our server.

Ids differ, so each id of an answer is learned beside the recorded one at its place and put into later calls.
What the recording left out of a request, credentials, files and whole requests, is put in here.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

RECORDED = Path(__file__).parents[1] / "recorded"
SESSION: list[dict[str, Any]] = json.loads((RECORDED / "rest_session.json").read_text(encoding="utf-8"))
EXTRA: list[dict[str, Any]] = json.loads((RECORDED / "rest_extra.json").read_text(encoding="utf-8"))
BY_CASE: Mapping[str, dict[str, Any]] = {each["case"]: each for each in (*SESSION, *EXTRA)}
_BOB = "7774df8a-45a6-4749-b334-f153acbeadbe"
_OWL = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
  <owl:Class rdf:about="http://example.org/Company"/>
  <owl:Class rdf:about="http://example.org/Startup">
    <rdfs:subClassOf rdf:resource="http://example.org/Company"/>
  </owl:Class>
</rdf:RDF>
"""
_ADA = {
    "data": {"datasetName": "cost"},
    "files": {"data": ["c.txt", "Ada wrote the first program.", "text/plain"]},
}


def _ontology(key: str, name: str = "o.owl", **more: str) -> dict[str, Any]:
    return {"data": {"ontology_key": key, **more}, "files": {"ontology_file": [name, _OWL, "text/xml"]}}


_NOT_RECORDED: Mapping[str, dict[str, Any]] = {
    "onto_upload": _ontology("k1", description="d"),
    "onto_dup": _ontology("k1"),
    "onto_badext": _ontology("k2", "o.ttl"),
    "onto_badkey": _ontology("a b"),
    "cost_remember_1sentence": {"method": "POST", "path": "/api/v1/remember", **_ADA},
    "cost_remember_identical": {"method": "POST", "path": "/api/v1/remember", **_ADA},
    "bob_settings_get": {"method": "GET", "path": "/api/v1/settings"},
    "bob_settings_post": {"method": "POST", "path": "/api/v1/settings", "json": {}},
    "bob_activity_users": {"method": "GET", "path": "/api/v1/activity/users"},
    "bob_user_id_lookup": {
        "method": "POST",
        "path": "/api/v1/users/get-user-id",
        "json": {"email": "default_user@example.com"},
    },
}
# What stands in the place of the user's key.
_OTHERWISE: Mapping[str, Mapping[str, str]] = {
    "unauth_datasets": {},
    "unauth_bad_key": {"X-Api-Key": "wrong"},
    "bad_bearer": {"Authorization": "Bearer wrong"},
    "bearer_with_apikey": {"Authorization": "Bearer {key}"},
}
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(slots=True)
class Replay:
    """`ids` are ours by the recorded ones; a user's is the name that the key was made for."""

    owner: httpx.Client
    other: httpx.Client
    ids: dict[str, str] = field(default_factory=lambda: {_BOB: "bob"})

    def ask(self, case: str) -> httpx.Response:
        recorded = BY_CASE[case]
        request = self._ours({**recorded.get("request", {}), **_NOT_RECORDED.get(case, {})})
        client = self.other if case.startswith("bob_") else self.owner
        sent = client.build_request(
            request["method"], request["path"], params=_pairs(request.get("params")), **_body(request)
        )
        if case in _OTHERWISE:
            key = sent.headers.pop("X-Api-Key")
            sent.headers.update({name: value.format(key=key) for name, value in _OTHERWISE[case].items()})
        answer = client.send(sent)
        if answer.status_code == recorded["status"] and "json" in answer.headers.get("content-type", ""):
            self._learn(recorded.get("body"), answer.json())
        return answer

    def expected(self, case: str) -> object:
        """The recorded answer with our ids."""
        return self._ours(BY_CASE[case].get("body"))

    def _ours(self, value: Any) -> Any:  # noqa: ANN401 - JSON
        text = json.dumps(value)
        return json.loads(_UUID.sub(lambda found: self.ids.get(found[0], found[0]), text))

    def _learn(self, recorded: object, ours: object) -> None:
        if isinstance(recorded, dict) and isinstance(ours, dict):
            for theirs, mine in zip(
                (name for name in recorded if _UUID.fullmatch(name)),
                (name for name in ours if _UUID.fullmatch(name)),
                strict=False,
            ):
                self.ids.setdefault(theirs, mine)
            for name in recorded.keys() & ours.keys():
                self._learn(recorded[name], ours[name])
        elif isinstance(recorded, list) and isinstance(ours, list):
            # Lists have an order of their own here; what is one of one is the same.
            if len(recorded) == len(ours) == 1:
                self._learn(recorded[0], ours[0])
        elif isinstance(recorded, str) and isinstance(ours, str) and _UUID.fullmatch(recorded):
            self.ids.setdefault(recorded, ours)


def _pairs(params: Any) -> httpx.QueryParams:  # noqa: ANN401 - JSON
    rows = params.items() if isinstance(params, dict) else params or []
    return httpx.QueryParams([(str(name), str(value)) for name, value in rows])


def _body(request: dict[str, Any]) -> dict[str, Any]:
    if "json" in request:
        return {"json": request["json"]}
    if "data" not in request and "files" not in request:
        return {}
    plain = {name: (None, str(value).encode()) for name, value in request.get("data", {}).items()}
    files = {
        name: (given[0], given[1].encode(), *given[2:]) for name, given in request.get("files", {}).items()
    }
    return {"files": {**plain, **files}}
