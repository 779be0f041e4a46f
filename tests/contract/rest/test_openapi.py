"""What is served is what docs/openapi.json says."""

import json

import httpx
from openapi_spec_validator import OpenAPIV31SpecValidator

from tools.openapi_page import PAGE


def test_the_server_describes_itself_as_the_page_does_and_validly(client: httpx.Client) -> None:
    answer = client.get("/openapi.json")

    assert answer.json() == json.loads(PAGE.read_text(encoding="utf-8"))
    OpenAPIV31SpecValidator(answer.json()).validate()


def test_no_credential_is_needed_to_read_it(client: httpx.Client) -> None:
    assert httpx.get(client.base_url.join("/openapi.json"), trust_env=False).status_code == 200
