from collections.abc import Iterator

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from dormouse import errors
from dormouse.errors import DormouseError, InvalidInputError, OverloadedError
from dormouse_gateway.web.problems import REPLIES, Problem, ProblemError, exception_handlers


def _all_errors(root: type[DormouseError] = DormouseError) -> Iterator[type[DormouseError]]:
    yield root
    for child in root.__subclasses__():
        yield from _all_errors(child)


def test_every_code_of_the_engine_has_a_reply() -> None:
    codes = {error.code for error in _all_errors() if error.__module__ == errors.__name__}

    assert codes <= set(REPLIES)


def test_every_reply_says_what_to_do_and_what_is_wrong_by_status() -> None:
    for code, reply in REPLIES.items():
        assert 400 <= reply.status < 600, code
        assert reply.remediation.endswith("."), code


def _answer(error: Exception) -> httpx2.Response:
    async def fail(_request: Request) -> Response:
        raise error

    app = Starlette(routes=[Route("/", fail)], exception_handlers=exception_handlers())
    return TestClient(app, raise_server_exceptions=False).get("/")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (InvalidInputError("query: must not be empty", field="query"), 400, "invalid_input"),
        (ProblemError(Problem("invalid_input", "as recorded", status=422)), 422, "invalid_input"),
        (HTTPException(405), 405, "method_not_allowed"),
        (HTTPException(404), 404, "not_found"),
    ],
)
def test_every_way_to_fail_has_the_one_envelope(error: Exception, status: int, code: str) -> None:
    answer = _answer(error)

    assert answer.status_code == status
    body = answer.json()
    assert set(body) == {"detail", "code", "remediation", "request_id"}
    assert body["code"] == code


def test_overload_says_when_to_come_back() -> None:
    answer = _answer(OverloadedError("too many waiters", retry_after_s=7))

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")


def test_a_surprise_tells_nothing_of_itself() -> None:
    answer = _answer(ValueError("/home/ada/secret.txt is broken"))

    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.json()["code"] == "internal"
