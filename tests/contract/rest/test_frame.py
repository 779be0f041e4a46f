"""What holds for every route: who may call, how much, and what each answer carries."""

from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest

from tests.contract.program import Program

PAGE = "https://app.example.net"
MCP = {"Accept": "application/json, text/event-stream"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
TOO_MANY_BYTES = 65 * 1024 * 1024  # over the limit of the largest form


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """Lets few through, and pages of one foreign origin."""
    limits = {"BURST": "3", "REQUESTS_PER_S": "0.01", "FAILURES_PER_MINUTE": "1"}
    program = Program(
        tmp_path_factory.mktemp("narrow") / "data folder",
        {"DORMOUSE_CORS_ORIGINS": PAGE, **{f"DORMOUSE_RATE_LIMIT__{name}": v for name, v in limits.items()}},
    )
    with program.serving():
        yield program


def test_beyond_its_rate_a_caller_is_refused_over_rest_and_mcp(narrow: Program) -> None:
    with narrow.client() as client:
        statuses = {client.get("/api/v1/datasets").status_code for _ in range(4)}
        rest = client.get("/api/v1/datasets")
        mcp = client.post("/mcp", json=PING, headers=MCP)
        probes = [client.get(path).status_code for path in ("/health", "/healthz", "/readyz", "/local/owner")]

    assert statuses == {200, 429}
    for refused in (rest, mcp):
        assert (refused.status_code, refused.json()["code"]) == (429, "overloaded")
        assert int(refused.headers["retry-after"]) > 0
    assert probes == [200, 200, 200, 200]


def test_who_fails_too_often_is_refused_before_the_key_is_looked_at(narrow: Program) -> None:
    with narrow.client(**{"X-Api-Key": "wrong"}) as client:
        statuses = [client.get("/api/v1/datasets").status_code for _ in range(3)]

    assert statuses == [401, 429, 429]


def test_a_page_of_a_named_origin_is_told_that_it_may_call(narrow: Program) -> None:
    asked = {
        "Origin": PAGE,
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "x-api-key,content-type",
    }
    with narrow.client(**asked) as client:
        told = client.options("/api/v1/datasets")
        called = client.get("/health")

    assert told.status_code == 200
    assert told.headers["access-control-allow-origin"] == PAGE
    assert "PATCH" in told.headers["access-control-allow-methods"]
    assert "x-api-key" in told.headers["access-control-allow-headers"]
    assert called.headers["access-control-allow-origin"] == PAGE
    assert "x-request-id" in called.headers["access-control-expose-headers"].lower()


def test_a_page_from_elsewhere_is_told_nothing(client: httpx.Client) -> None:
    asked = {"Origin": PAGE, "Access-Control-Request-Method": "GET"}

    told = client.options("/api/v1/datasets", headers=asked)
    called = client.get("/api/v1/datasets", headers={"Origin": PAGE})

    assert (told.status_code, called.status_code) == (400, 403)
    assert "access-control-allow-origin" not in {*told.headers, *called.headers}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/datasets"),
        ("GET", "/nowhere"),
        ("PUT", "/api/v1/recall"),
        ("GET", "/mcp"),
        ("GET", "/health"),
    ],
)
def test_every_answer_names_its_request_and_forbids_what_a_browser_may_not(
    client: httpx.Client, method: str, path: str
) -> None:
    headers = client.request(method, path, headers={"X-Request-Id": "run-7"}).headers

    assert headers["x-request-id"] == "run-7"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_no_route_takes_a_body_over_its_limit(served: Program, client: httpx.Client) -> None:
    """The size is announced, and the answer comes before a byte of it."""
    paths = client.get("/openapi.json").json()["paths"]
    answered = {
        f"{method} {path}": _announced(served, method, path + _asked(operation), _media(operation))
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "requestBody" in operation
    }

    assert len(answered) > 3
    assert {route: status for route, status in answered.items() if status != 413} == {}


def _media(operation: dict[str, Any]) -> str:
    return str(next(iter(operation["requestBody"]["content"])))


def _asked(operation: dict[str, Any]) -> str:
    """What the address must say, so that nothing but the body is wrong."""
    asked = [each for each in operation.get("parameters", ()) if each["in"] == "query" and each.get("required")]
    words = [f"{each['name']}={each['schema'].get('enum', [uuid4()])[0]}" for each in asked]
    return f"?{'&'.join(words)}" if words else ""


def _announced(program: Program, method: str, path: str, media: str) -> int:
    address = program.address
    connection = HTTPConnection(str(urlsplit(address.url).netloc), timeout=30)
    try:
        connection.putrequest(method.upper(), path.replace("{", "").replace("}", ""))
        boundary = "; boundary=b" if media.startswith("multipart") else ""
        headers = {"Authorization": f"Bearer {address.token}", "Content-Type": media + boundary, **MCP}
        for name, value in {**headers, "Content-Length": str(TOO_MANY_BYTES)}.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()
