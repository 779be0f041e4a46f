import pytest
from starlette.requests import Request

from dormouse.errors import InvalidInputError
from dormouse_gateway.web.idempotency import idempotency_of


def _request(key: str | None) -> Request:
    headers = [] if key is None else [(b"idempotency-key", key.encode("latin-1"))]
    return Request({"type": "http", "headers": headers})


def test_without_the_header_there_is_no_key() -> None:
    assert idempotency_of(_request(None), "r", [b"x"]) is None


def test_moving_a_byte_between_parts_is_another_body() -> None:
    first = idempotency_of(_request("k"), "r", [b"ab", b"c"])
    second = idempotency_of(_request("k"), "r", [b"a", b"bc"])

    assert first
    assert second
    assert first.body_sha256 != second.body_sha256


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb", "é"])
def test_keys_that_cannot_be_told_apart_in_logs_are_refused(key: str) -> None:
    with pytest.raises(InvalidInputError, match="Idempotency-Key"):
        idempotency_of(_request(key), "r", [])
