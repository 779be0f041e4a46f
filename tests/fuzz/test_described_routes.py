"""Whatever the description allows or forbids is sent to the real program, and it answers as it says it does.

No crash, nothing undeclared, one shape of errors, and never a path, a trace, or anything of another user.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from dormouse_gateway.auth.api_keys import KeyFile
from tests.builders import NOW_MS
from tests.contract.program import Program
from tools.openapi_page import PAGE

EXAMPLES = 12
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
LEAKS = re.compile(
    r"Traceback|\.py\b|line \d+, in |site-packages|sqlite|pydantic|starlette|sqlalchemy|/tmp/|/home/",
    re.IGNORECASE,
)
ENVELOPE = {"detail", "code", "remediation", "request_id"}
OTHER, SECRET = "somebody.else", "The vault opens with marzipan."

SCHEMA = schemathesis.openapi.from_path(PAGE)


@dataclass(frozen=True, slots=True)
class Served:
    """`foreign` is what belongs to another user and may never be seen."""

    url: str
    key: str
    foreign: tuple[str, ...]


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("fuzz")
    keys = KeyFile(folder / "keys.json")
    _, mine = keys.create("fuzzer", "", NOW_MS)
    _, others = keys.create(OTHER, "", NOW_MS)
    program = Program(
        folder / "data folder",
        {
            "DORMOUSE_API_KEYS_FILE": str(folder / "keys.json"),
            "DORMOUSE_RATE_LIMIT__BURST": "1000000",
            "DORMOUSE_RATE_LIMIT__FAILURES_PER_MINUTE": "1000000",
        },
    )
    with program.serving() as url:
        yield Served(url, mine, _remembered(program, others))


def _remembered(program: Program, key: str) -> tuple[str, ...]:
    with program.client(**{"X-Api-Key": key}) as client:
        form = {"datasetName": (None, b"vault"), "raw_data": (None, SECRET.encode())}
        receipt = client.post("/api/v1/remember", files=form).json()
    return (OTHER, "marzipan", receipt["dataset_id"], receipt["items"][0]["id"], receipt["pipeline_run_id"])


@SCHEMA.parametrize()
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@pytest.mark.filterwarnings("default")
def test_a_route_answers_as_it_is_described(case: "Case[Any]", served: Served) -> None:
    headers = {} if case.operation.definition.raw.get("security") == [] else {"X-Api-Key": served.key}

    answer = case.call(base_url=served.url, headers=headers, timeout=60)

    case.validate_response(answer, checks=CHECKS)
    text = answer.content.decode("utf-8", "replace")
    assert [each for each in served.foreign if each in text] == []
    if answer.status_code >= 400 and not case.path.startswith("/mcp"):
        assert LEAKS.search(text) is None
        assert answer.status_code == 409 or set(answer.json()) == ENVELOPE
