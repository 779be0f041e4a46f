from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse_gateway.web.openapi import document, refusals_of
from dormouse_gateway.web.operation import (
    FILE,
    TEXT,
    Answer,
    DescribedRoute,
    Form,
    Operation,
    Parameter,
    path_parameter,
)


class CupView(TypedDict):
    fullness: float


class Order(BaseModel):
    tea: str


POUR = Operation(
    "Pour",
    "tea",
    {200: Answer("Poured.", CupView), 202: Answer("It still draws.", CupView)},
    parameters=(path_parameter("pot", "Which."), Parameter("sugar", "Lumps.")),
    body=Order,
    refusals=(409,),
)
LOOK = Operation("Look", "tea", {200: Answer("Tea.", None, "image/png")}, is_open=True)


async def _endpoint(_request: Request) -> Response:
    raise AssertionError("a description calls nobody")


def _route(path: str, method: str, operation: Operation) -> DescribedRoute:
    return DescribedRoute(path, _endpoint, {method: operation}, methods=[method])


def reference_to(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def test_a_document_is_valid() -> None:
    described = document([_route("/pots/{pot}", "POST", POUR), _route("/pots", "GET", LOOK)], "1.0")

    OpenAPIV31SpecValidator(described).validate()


def test_a_route_tells_its_parameters_body_and_answers() -> None:
    told = document([_route("/pots/{pot}", "POST", POUR)], "1.0")["paths"]["/pots/{pot}"]["post"]

    assert [(each["name"], each["in"]) for each in told["parameters"]] == [
        ("pot", "path"),
        ("sugar", "query"),
        ("X-Request-Id", "header"),
    ]
    assert told["requestBody"]["content"]["application/json"]["schema"] == reference_to("Order")
    assert told["responses"]["202"]["content"]["application/json"]["schema"] == reference_to("CupView")


def test_a_form_has_files_beside_its_plain_fields() -> None:
    upload = Operation("Send", "tea", {200: Answer("Sent.")}, body=Form(Order, {"leaf": FILE, "note": TEXT}))

    told = document([_route("/leaves", "POST", upload)], "1.0")["paths"]["/leaves"]["post"]["requestBody"]

    assert told["content"]["multipart/form-data"]["schema"]["properties"] == {
        "tea": {"type": "string"},
        "leaf": FILE,
        "note": TEXT,
    }


def test_an_open_route_asks_for_no_credential() -> None:
    told = document([_route("/pots", "GET", LOOK)], "1.0")["paths"]["/pots"]["get"]

    assert told["security"] == []
    assert "401" not in told["responses"]


def test_refusals_follow_from_what_a_route_takes() -> None:
    assert refusals_of(POUR) == [400, 401, 404, 409, 413, 415, 429, 500, 503]
    assert refusals_of(LOOK) == [429, 500, 503]


def test_a_path_with_a_slash_at_its_end_is_told_once() -> None:
    told = document([_route("/pots", "GET", LOOK), _route("/pots/", "GET", LOOK)], "1.0")

    assert list(told["paths"]) == ["/pots"]
