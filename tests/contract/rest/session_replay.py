"""The recorded session of the reference, call by call against our server.

Ids differ, so each id of an answer is learned beside the recorded one at its place and put into later calls.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

SESSION: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "recorded" / "rest_session.json").read_text(encoding="utf-8")
)
BY_CASE: Mapping[str, dict[str, Any]] = {each["case"]: each for each in SESSION}
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(slots=True)
class Replay:
    """`ids` are ours by the recorded ones."""

    owner: httpx.Client
    other: httpx.Client
    ids: dict[str, str] = field(default_factory=dict)

    def ask(self, case: str) -> httpx.Response:
        recorded = BY_CASE[case]
        request = self._ours(recorded["request"])
        client = self.other if case.startswith("bob_") else self.owner
        answer = client.request(
            request["method"], request["path"], params=_pairs(request.get("params")), **_body(request)
        )
        if answer.status_code == recorded["status"] and "json" in answer.headers.get("content-type", ""):
            self._learn(recorded["body"], answer.json())
        return answer

    def expected(self, case: str) -> object:
        """The recorded answer with our ids."""
        return self._ours(BY_CASE[case]["body"])

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
