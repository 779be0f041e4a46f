import pytest
from starlette.requests import Request
from starlette.types import Message

from dormouse.errors import InvalidInputError, TooLargeError
from dormouse_gateway.web.limits import JSON_LIMIT_BYTES, form, json_object
from dormouse_gateway.web.problems import ProblemError


def _request(chunks: list[bytes], content_type: str, **headers: str) -> tuple[Request, list[bytes]]:
    """A request whose body comes in chunks, and what was left unread of it."""
    left = list(chunks)

    async def receive() -> Message:
        chunk = left.pop(0)
        return {"type": "http.request", "body": chunk, "more_body": bool(left)}

    named = {"content-type": content_type, **headers}
    scope = {
        "type": "http",
        "method": "POST",
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()],
    }
    return Request(scope, receive), left


async def test_a_body_that_lies_about_its_length_is_cut_off_while_it_comes() -> None:
    chunks = [b"x" * (JSON_LIMIT_BYTES // 2 + 1)] * 10
    request, left = _request(chunks, "application/json", content_length="3")

    with pytest.raises(TooLargeError):
        await json_object(request)
    assert len(left) == 8


async def test_a_body_that_says_it_is_too_large_is_not_read() -> None:
    request, left = _request([b"x"] * 3, "application/json", content_length=str(JSON_LIMIT_BYTES + 1))

    with pytest.raises(TooLargeError):
        await json_object(request)
    assert len(left) == 3


@pytest.mark.parametrize("body", [b"{", b"[]", b'"x"', b"\xff", b"[" * 100_000])
async def test_what_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidInputError):
        await json_object(_request([body], "application/json")[0])


@pytest.mark.parametrize("body", [b'{"a": 1, "a": 1}', b'{"b": [{"a": 1, "c": 2, "a": 3}]}'])
async def test_a_key_that_is_twice_in_an_object_is_refused_by_its_name(body: bytes) -> None:
    with pytest.raises(InvalidInputError, match="'a' once only") as refused:
        await json_object(_request([body], "application/json")[0])
    assert refused.value.field == "a"


async def test_an_empty_body_asks_for_nothing() -> None:
    assert await json_object(_request([b""], "application/json; charset=utf-8")[0]) == {}


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_types_that_a_web_page_may_send_anywhere_are_refused(content_type: str) -> None:
    with pytest.raises(ProblemError):
        await json_object(_request([b"{}"], content_type)[0])


@pytest.mark.parametrize("content_type", ["multipart/form-data", "multipart/form-data; boundary=b"])
async def test_a_broken_form_is_said_to_be_one(content_type: str) -> None:
    with pytest.raises(InvalidInputError):
        await form(_request([b"broken"], content_type)[0])
