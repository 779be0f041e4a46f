"""What a connection outlives: the whole application on a real server, over an engine that only fails."""

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, cast

import pytest
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dormouse.engine import Engine
from dormouse.ids import PrincipalId
from dormouse.model.scope import Scope as Readable
from dormouse_gateway.application import build_app
from dormouse_gateway.mcp.stopping import Stopping
from dormouse_gateway.owner import owner_of
from dormouse_gateway.settings import GatewaySettings
from dormouse_gateway.web import connection as bounds
from dormouse_gateway.web.connection import BoundedConnection
from tests.builders import a_scope

DEADLINE_S = 30.0


class _Breaks:
    """A saboteur: every question ends in a fault of the program's own."""

    async def scope_of(self, _principal: PrincipalId) -> Readable:
        raise RuntimeError("a fault")


class _Waits:
    """A saboteur: it lets everybody in and is never asked more."""

    async def scope_of(self, _principal: PrincipalId) -> Readable:
        return a_scope()


class _Noticing:
    """`is_reading` is set when the application asks for a request's body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.is_reading = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def noticed() -> Message:
            if scope["type"] == "http":
                self.is_reading.set()
            return await receive()

        await self._app(scope, noticed, send)


@contextmanager
def serving(folder: Path, engine: object) -> Iterator[tuple[tuple[str, int], _Noticing]]:
    """Its address; the block's end lets every request end first."""
    settings = GatewaySettings(data_dir=folder)
    app = _Noticing(
        build_app(cast("Engine", engine), settings, owner_of(settings), Stopping(DEADLINE_S), b"key")
    )
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, http=BoundedConnection, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield listening.getsockname(), app
    finally:
        server.should_exit = True
        thread.join(DEADLINE_S)
        listening.close()


def asked(connection: HTTPConnection) -> tuple[int, bytes]:
    connection.request("GET", "/api/v1/datasets")
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_a_connection_serves_the_next_request_after_a_fault_of_the_program(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(tmp_path, _Breaks()) as (address, _):
        connection = HTTPConnection(*address, timeout=DEADLINE_S)
        answers = [asked(connection)]
        first = connection.sock
        answers += [asked(connection) for _ in range(2)]
        same = connection.sock
        connection.close()

    assert [(status, b'"internal"' in body) for status, body in answers] == [(500, True)] * 3
    assert same is first
    assert [each.message for each in _errors(caplog)] == ["request_broke"] * 3


@pytest.mark.parametrize(
    ("path", "media", "modern"),
    [
        ("/api/v1/forget", "application/json", ""),
        ("/api/v1/remember", "multipart/form-data; boundary=b", ""),
        ("/mcp", "application/json", ""),
        ("/mcp", "application/json", "Mcp-Protocol-Version: 2026-07-28\r\n"),
    ],
)
def test_a_client_that_hangs_up_in_the_middle_of_its_body_is_no_fault(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, path: str, media: str, modern: str
) -> None:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {media}\r\nContent-Length: 100\r\n{modern}"
    )
    with serving(tmp_path, _Waits()) as (address, app), socket.create_connection(address) as client:
        client.sendall(f"{head}\r\n--b\r\n".encode())
        assert app.is_reading.wait(DEADLINE_S)
        client.close()

    assert [(each.name, each.message) for each in _errors(caplog)] == []


def _errors(caplog: pytest.LogCaptureFixture) -> list[Any]:
    return [each for each in caplog.records if each.levelno >= logging.WARNING]


def opened(address: tuple[str, int], begun: bytes = b"") -> socket.socket:
    made = socket.create_connection(address, timeout=DEADLINE_S)
    made.sendall(begun)
    return made


HALF_A_BODY = (
    b"POST /api/v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 9\r\n\r\n{"
)


@pytest.mark.parametrize(
    "begun", [b"", b"GET /api/v1/data", HALF_A_BODY], ids=["nothing", "half a head", "half a body"]
)
def test_who_sends_no_more_is_let_go(tmp_path: Path, begun: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "HEAD_S", 0.2)
    monkeypatch.setattr(bounds, "BODY_S", 0.2)

    with serving(tmp_path, _Waits()) as (address, _), opened(address, begun) as waiting:
        assert waiting.recv(1) == b""


def test_a_head_that_comes_by_the_byte_is_given_no_more_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "HEAD_S", 0.5)

    with serving(tmp_path, _Waits()) as (address, _), opened(address) as dripping:
        dripping.settimeout(0.1)
        sent = 0
        for sent in range(1, 100):  # noqa: B007
            try:
                dripping.sendall(b"G")
                assert dripping.recv(1) == b""
                break
            except TimeoutError:
                continue
            except ConnectionError:
                break
    assert sent < 20


def test_the_one_that_asks_for_nothing_makes_room_for_who_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "connections_allowed", lambda: 2)

    with serving(tmp_path, _Breaks()) as (address, _), opened(address) as oldest, opened(address) as newer:
        connection = HTTPConnection(*address, timeout=DEADLINE_S)
        assert asked(connection)[0] == 500
        assert oldest.recv(1) == b""
        newer.setblocking(False)
        with pytest.raises(BlockingIOError):
            newer.recv(1)
        connection.close()
