from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from dormouse_gateway.auth.api_keys import KeyFile
from dormouse_gateway.auth.principal import FAILURES, LOCAL_USER, Credentials, PrincipalMiddleware, principal_of
from dormouse_gateway.web.token_bucket import Rate
from tests.builders import NOW_MS

TOKEN = "the token of server.json"


async def _whoami(request: Request) -> JSONResponse:
    return JSONResponse(principal_of(request.scope))


async def _open(_request: Request) -> JSONResponse:
    return JSONResponse("open")


def _client(credentials: Credentials, failures: Rate = FAILURES) -> TestClient:
    routes = [Route("/who", _whoami), Route("/local/who", _whoami), Route("/health", _open)]
    return TestClient(PrincipalMiddleware(Starlette(routes=routes), credentials, failures))


@pytest.fixture
def keys(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "keys.json")


def test_on_loopback_without_keys_the_caller_is_the_local_user() -> None:
    client = _client(Credentials(None, TOKEN, is_loopback=True))

    assert client.get("/who").json() == LOCAL_USER


@pytest.mark.parametrize(
    "header", [{"X-Api-Key": "wrong"}, {"Authorization": "Bearer wrong"}, {"X-Api-Key": ""}]
)
def test_a_wrong_credential_is_refused_even_where_none_is_needed(header: dict[str, str]) -> None:
    client = _client(Credentials(None, TOKEN, is_loopback=True))

    assert client.get("/who", headers=header).status_code == 401


def test_with_keys_a_caller_without_one_learns_only_how_to_come_back(keys: KeyFile) -> None:
    answer = _client(Credentials(keys, TOKEN, is_loopback=True)).get("/nowhere")

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert (
        answer.json().items()
        >= {
            "detail": "Authentication required.",
            "code": "unauthenticated",
            "remediation": "Send an API key as `X-Api-Key` or `Authorization: Bearer`.",
        }.items()
    )


def test_a_key_names_its_user_in_either_header(keys: KeyFile) -> None:
    _, secret = keys.create("ada", "", NOW_MS)
    client = _client(Credentials(keys, TOKEN, is_loopback=False))

    assert client.get("/who", headers={"X-Api-Key": secret}).json() == "ada"
    assert client.get("/who", headers={"Authorization": f"bearer {secret}"}).json() == "ada"


def test_two_credentials_of_two_users_are_refused(keys: KeyFile) -> None:
    secrets = [keys.create(user, "", NOW_MS)[1] for user in ("ada", "grace")]
    headers = {"X-Api-Key": secrets[0], "Authorization": f"Bearer {secrets[1]}"}

    assert _client(Credentials(keys, TOKEN, is_loopback=True)).get("/who", headers=headers).status_code == 401


def test_the_owners_token_is_the_local_user_with_and_without_keys(keys: KeyFile) -> None:
    for credentials in (Credentials(keys, TOKEN, is_loopback=True), Credentials(None, TOKEN, is_loopback=True)):
        client = _client(credentials)

        assert client.get("/who", headers={"Authorization": f"Bearer {TOKEN}"}).json() == LOCAL_USER


def test_local_paths_take_the_token_only(keys: KeyFile) -> None:
    _, secret = keys.create("ada", "", NOW_MS)
    client = _client(Credentials(keys, TOKEN, is_loopback=True))

    assert client.get("/local/who", headers={"X-Api-Key": secret}).status_code == 401
    assert client.get("/local/who", headers={"X-Api-Key": TOKEN}).json() == LOCAL_USER
    assert _client(Credentials(None, TOKEN, is_loopback=True)).get("/local/who").status_code == 401


def test_probes_need_no_credentials(keys: KeyFile) -> None:
    assert _client(Credentials(keys, TOKEN, is_loopback=False)).get("/health").json() == "open"


def test_who_fails_too_often_is_told_to_wait_and_a_valid_key_is_served_all_the_same(keys: KeyFile) -> None:
    _, secret = keys.create("ada", "", NOW_MS)
    client = _client(Credentials(keys, TOKEN, is_loopback=True), Rate(per_s=0.1, burst=2))

    statuses = [client.get("/who", headers={"X-Api-Key": "wrong"}).status_code for _ in range(3)]
    refused = client.get("/who")
    served = client.get("/who", headers={"X-Api-Key": secret})

    assert statuses == [401, 401, 429]
    assert int(refused.headers["retry-after"]) >= 1
    assert served.json() == "ada"


def test_addresses_of_one_network_share_their_failures(keys: KeyFile) -> None:
    app = PrincipalMiddleware(Starlette(), Credentials(keys, TOKEN, is_loopback=False), Rate(0.1, 1))

    statuses = [
        TestClient(app, client=(address, 1)).get("/who").status_code
        for address in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "192.0.2.1", "192.0.2.2")
    ]

    assert statuses == [401, 429, 401, 401, 401]
