"""Streamable HTTP: recorded probes, both eras, and what the transport refuses."""

import json
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract.mcp.differences import may_differ
from tests.contract.mcp.talk import (
    ACCEPT,
    MODERN,
    a_call,
    a_request,
    an_initialize,
    as_modern,
    post,
    result_of,
)
from tests.contract.program import Program

HANDSHAKE = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
EVIL = {"host": "evil.example"}
EVIL_ORIGIN = {"origin": "http://evil.example"}
FRONT_END = {"origin": "http://localhost:3000"}
PREFLIGHT = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "mcp-session-id,content-type",
}
PING = a_request("ping", number=3)
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}

# case: method, path, headers beyond the usual, body
PROBES: dict[str, tuple[str, str, dict[str, str], object]] = {
    "health": ("GET", "/health", {}, None),
    "health_badhost": ("GET", "/health", EVIL, None),
    "health_badorigin": ("GET", "/health", EVIL_ORIGIN, None),
    "init": ("POST", "/mcp", {}, an_initialize()),
    "init_badhost": ("POST", "/mcp", EVIL, an_initialize()),
    "init_badorigin": ("POST", "/mcp", EVIL_ORIGIN, an_initialize()),
    "init_origin_local3000": ("POST", "/mcp", FRONT_END, an_initialize()),
    "init_no_accept": ("POST", "/mcp", {"accept": "application/json"}, an_initialize()),
    "list_nosession": ("POST", "/mcp", {}, a_request("tools/list")),
    "list_badsession": ("POST", "/mcp", {"mcp-session-id": "0" * 32}, a_request("tools/list")),
    "initialized": ("POST", "/mcp", {}, INITIALIZED),
    "ping": ("POST", "/mcp", {}, PING),
    "unknown_method": ("POST", "/mcp", {}, a_request("nope/nope", number=4)),
    "delete_session": ("DELETE", "/mcp", {"mcp-session-id": "0" * 32}, None),
    "after_delete": ("POST", "/mcp", {"mcp-session-id": "0" * 32}, PING),
    "mcp_slash": ("POST", "/mcp/", {}, an_initialize()),
    "preflight_ok": ("OPTIONS", "/mcp", {**FRONT_END, **PREFLIGHT}, None),
    "preflight_bad": ("OPTIONS", "/mcp", {**EVIL_ORIGIN, **PREFLIGHT}, None),
    "root": ("GET", "/", {}, None),
}


def _probe(url: str, case: str) -> httpx.Response:
    method, path, headers, body = PROBES[case]
    content = None if body is None else json.dumps(body)
    with httpx.Client(trust_env=False) as client:
        return client.request(method, url + path, headers={**ACCEPT, **headers}, content=content)


@pytest.mark.parametrize("case", [case for case in PROBES if not may_differ(case)])
def test_a_recorded_probe_is_answered_as_recorded(
    url: str, recorded_probes: dict[str, dict[str, Any]], case: str
) -> None:
    recorded = recorded_probes[f"http_loopback:{case}"]

    answer = _probe(url, case)

    assert (answer.status_code, answer.text) == (recorded["status"], recorded["body"])


def test_every_recorded_probe_is_replayed_or_excused(recorded_probes: dict[str, dict[str, Any]]) -> None:
    cases = {name.partition(":")[2] for name in recorded_probes}

    assert not {case for case in cases if case not in PROBES and not may_differ(case)} - {"badhost_mcp"}


@pytest.mark.parametrize(
    ("case", "status"),
    [
        ("init", 200),
        ("init_origin_local3000", 200),
        ("list_nosession", 200),
        ("list_badsession", 200),
        ("ping", 200),
        ("unknown_method", 200),
        ("delete_session", 405),
        ("after_delete", 200),
        ("mcp_slash", 200),
        ("preflight_ok", 200),
        ("preflight_bad", 400),
        ("root", 404),
    ],
)
def test_a_probe_that_differs_has_the_status_that_the_table_tells(url: str, case: str, status: int) -> None:
    assert _probe(url, case).status_code == status


def test_a_configured_name_is_served_and_its_pages_may_call(tmp_path: Path) -> None:
    named = {"host": "myserver.local:9000", "origin": "http://myserver.local:9000"}

    with Program(tmp_path, {"DORMOUSE_ALLOWED_HOSTS": "myserver.local:9000"}).serving() as url:
        answer = post(url, an_initialize(), **named)
        foreign = post(url, an_initialize(), host="other.local:9000")

    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "http://myserver.local:9000"
    assert "mcp-session-id" in answer.headers["access-control-expose-headers"].lower()
    assert foreign.status_code == 421


def test_the_guard_can_be_left_to_a_proxy(tmp_path: Path) -> None:
    with Program(tmp_path, {"DORMOUSE_ALLOWED_HOSTS": "*"}).serving() as url:
        answer = post(url, an_initialize(), host="evil.example")

    assert answer.status_code == 200


@pytest.mark.parametrize("version", HANDSHAKE)
def test_each_handshake_version_is_agreed_to_and_served(url: str, version: str) -> None:
    agreed = result_of(post(url, an_initialize(version)))
    headers = {"mcp-protocol-version": version}
    listed = result_of(post(url, a_request("tools/list"), **headers))
    called = result_of(post(url, a_call("recall", {"query": "tea"}), **headers))

    assert agreed["protocolVersion"] == version
    assert agreed["serverInfo"]["name"] == "dormouse"
    assert listed["tools"][0]["name"] == "remember"
    assert called["isError"] is False


def test_an_unknown_version_in_a_handshake_is_answered_with_the_newest_of_its_era(url: str) -> None:
    assert result_of(post(url, an_initialize("1999-01-01")))["protocolVersion"] == "2025-11-25"


def test_the_newer_era_needs_no_handshake(url: str) -> None:
    message, headers = as_modern(a_call("recall", {"query": "tea"}))

    result = result_of(post(url, message, **headers))

    assert result["resultType"] == "complete"
    assert result["isError"] is False


def test_the_newer_era_can_be_discovered(url: str) -> None:
    message, headers = as_modern(a_request("server/discover"))

    result = result_of(post(url, message, **headers))

    assert MODERN in result["supportedVersions"]
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert "recall" in result["instructions"]


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"Mcp-Method": "tools/list"}, 400, -32020),
        ({"Mcp-Name": "forget"}, 400, -32020),
        ({"Mcp-Name": ""}, 400, -32020),
    ],
)
def test_headers_of_the_newer_era_must_mirror_the_body(
    url: str, changed: dict[str, str], status: int, code: int
) -> None:
    message, headers = as_modern(a_call("recall", {"query": "tea"}))

    answer = post(url, message, **(headers | changed))

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_white_space_at_the_end_of_a_header_is_not_part_of_it(url: str) -> None:
    message, headers = as_modern(a_call("recall", {"query": "tea"}))
    body = json.dumps(message).encode()
    told = {**ACCEPT, **headers, "host": url.removeprefix("http://"), "content-length": str(len(body))}
    lines = [
        b"POST /mcp HTTP/1.1",
        *(f"{name}: {value} \t ".encode() for name, value in told.items()),
        b"",
        b"",
    ]
    host, port = url.removeprefix("http://").split(":")

    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(b"\r\n".join(lines) + body)
        status_line = connection.makefile("rb").readline()

    assert status_line.startswith(b"HTTP/1.1 200")


def test_an_unknown_method_of_the_newer_era_is_404(url: str) -> None:
    message, headers = as_modern(a_request("nope/nope"))

    answer = post(url, message, **headers)

    assert (answer.status_code, answer.json()["error"]["code"]) == (404, -32601)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_only_post_is_served(url: str, method: str, path: str) -> None:
    answer = httpx.request(method, url + path, trust_env=False)

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("body", "code"), [("{", -32700), ("[]", -32600), ('{"jsonrpc":"2.0","id":1}', None), ('"x"', -32600)]
)
def test_what_is_no_request_is_refused_in_the_protocols_words(url: str, body: str, code: int | None) -> None:
    answer = httpx.post(f"{url}/mcp", content=body, headers=ACCEPT, trust_env=False)

    if code is None:
        assert (answer.status_code, answer.text) == (202, "")
    else:
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


def test_a_body_over_the_limit_is_refused_before_it_is_read(url: str) -> None:
    headers = {**ACCEPT, "content-length": str(17 * 1024 * 1024)}
    body = iter([b" " * 1024] * 17 * 1024)

    try:
        status = httpx.post(f"{url}/mcp", content=body, headers=headers, trust_env=False).status_code
    except httpx.WriteError:
        status = 413  # the answer came while the rest was still being sent

    assert status == 413


def test_the_session_id_carries_the_clients_name_and_is_never_needed(url: str) -> None:
    session_id = post(url, an_initialize(name="Some Client (beta)")).headers["mcp-session-id"]
    call = a_call("remember", {"data": "Tea is at four.", "background": True})

    named = result_of(post(url, call, mcp_session_id=session_id))
    forged = result_of(post(url, call, mcp_session_id=session_id[:-4] + "AAAA"))
    unnamed = result_of(post(url, call))

    assert named["structuredContent"]["dataset"] == "some_client_memory"
    assert forged["structuredContent"]["dataset"] == "main_dataset"
    assert unnamed["structuredContent"]["dataset"] == "main_dataset"


def test_a_restart_knows_clients_by_their_session_ids_still(tmp_path: Path) -> None:
    program = Program(tmp_path)
    with program.serving() as url:
        session_id = post(url, an_initialize(name="cursor")).headers["mcp-session-id"]
    with program.serving() as url:
        call = a_call("remember", {"data": "Tea is at four.", "background": True})
        result = result_of(post(url, call, mcp_session_id=session_id))

    assert result["structuredContent"]["dataset"] == "cursor_memory"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_are_answered_under_any_name_and_without_a_key(url: str, path: str) -> None:
    answer = httpx.get(url + path, headers={**EVIL, "X-Api-Key": "wrong"}, trust_env=False)

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_a_wrong_key_is_refused_with_a_challenge(url: str) -> None:
    answer = post(url, an_initialize(), authorization="Bearer wrong")

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("is_modern", [False, True])
def test_an_argument_that_is_there_twice_is_refused_by_name_and_nothing_is_done(
    url: str, is_modern: bool
) -> None:
    call = a_call("forget", {"dataset": "spared"})
    headers: dict[str, str] = {}
    if is_modern:
        call, headers = as_modern(call)
    twice = json.dumps(call).replace('"dataset": "spared"', '"dataset": "kept", "dataset": "spared"')

    with httpx.Client(trust_env=False, timeout=30) as client:
        answer = client.post(f"{url}/mcp", content=twice, headers={**ACCEPT, **headers})

    assert answer.status_code == 400
    assert answer.json()["error"] == {
        "code": -32600,
        "message": "Invalid request: the key 'dataset' is there twice",
    }
