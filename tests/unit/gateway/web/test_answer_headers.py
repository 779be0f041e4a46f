import pytest
import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from dormouse_gateway.web.answer_headers import DEFAULTS, AnswerHeaders
from dormouse_gateway.web.problems import request_id_of


async def _own(_request: Request) -> Response:
    return Response(headers={"Cache-Control": "max-age=60"})


async def _id(request: Request) -> Response:
    return JSONResponse([request_id_of(request.scope), structlog.contextvars.get_contextvars()["request_id"]])


CLIENT = TestClient(AnswerHeaders(Starlette(routes=[Route("/own", _own), Route("/id", _id)])))


@pytest.mark.parametrize("path", ["/own", "/id", "/nowhere"])
def test_every_answer_has_them(path: str) -> None:
    headers = CLIENT.get(path).headers

    assert headers["x-request-id"]
    assert {name for name in DEFAULTS if name not in headers} == set()


def test_a_route_knows_better() -> None:
    assert CLIENT.get("/own").headers["cache-control"] == "max-age=60"


def test_the_callers_id_is_kept_in_answer_and_log() -> None:
    answer = CLIENT.get("/id", headers={"X-Request-Id": "run-7.a_B"})

    assert answer.headers["x-request-id"] == "run-7.a_B"
    assert answer.json() == ["run-7.a_B", "run-7.a_B"]


@pytest.mark.parametrize("given", ["", "two words", "a" * 129, 'quo"te', "line%0abreak", "é".encode()])
def test_an_unfit_id_is_replaced(given: str | bytes) -> None:
    answer = CLIENT.get("/id", headers=[(b"X-Request-Id", given.encode() if isinstance(given, str) else given)])

    assert len(answer.headers["x-request-id"]) == 32
