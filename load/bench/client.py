"""A client that costs next to nothing: one connection, kept open, and no library of its own.

On a machine with few cores a dear client takes from the server what it is there to measure.
"""

import http.client
import json
import time
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import urlsplit

_BOUNDARY = "dormouse-bench"


class Client:
    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def get(self, path: str) -> Any:  # noqa: ANN401  whatever JSON came
        self._connection.request("GET", path)
        return json.loads(self._answer()[0])

    def post(self, path: str, message: object, headers: Mapping[str, str] | None = None) -> "Answered":
        body = json.dumps(message).encode()
        return self._posted(path, body, {"content-type": "application/json", **(headers or {})})

    def post_form(self, path: str, fields: Mapping[str, str]) -> "Answered":
        parts = [
            f'--{_BOUNDARY}\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        ]
        body = f"{''.join(parts)}--{_BOUNDARY}--\r\n".encode()
        return self._posted(path, body, {"content-type": f"multipart/form-data; boundary={_BOUNDARY}"})

    def _posted(self, path: str, body: bytes, headers: Mapping[str, str]) -> "Answered":
        began = time.perf_counter()
        self._connection.request("POST", path, body, dict(headers))
        content, given = self._answer()
        return Answered(1000 * (time.perf_counter() - began), content, given)

    def _answer(self) -> tuple[bytes, Mapping[str, str]]:
        response = self._connection.getresponse()
        content = response.read()
        if response.status >= 300:
            raise RuntimeError(f"answered {response.status}: {content[:200]!r}")
        return content, {name.lower(): value for name, value in response.getheaders()}


class Answered:
    """`took_ms` from the first byte sent to the last one read."""

    __slots__ = ("_content", "headers", "took_ms")

    def __init__(self, took_ms: float, content: bytes, headers: Mapping[str, str]) -> None:
        self.took_ms, self.headers, self._content = took_ms, headers, content

    @property
    def json(self) -> Any:  # noqa: ANN401  whatever JSON came
        return json.loads(self._content)
