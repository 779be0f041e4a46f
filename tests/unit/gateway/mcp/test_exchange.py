"""One request, run and answered: JSON or events, and what happens when its client leaves."""

import asyncio
import json
from collections.abc import Awaitable, Mapping
from itertools import pairwise
from typing import Any

import pytest
from mcp.server import Server, ServerRequestContext
from mcp.server.connection import Connection
from mcp.types import CallToolRequestParams, CallToolResult, JSONRPCRequest, TextContent
from starlette.requests import Request
from starlette.types import Message

from dormouse_gateway.mcp.exchange import QUIET_S, YOUNG_S, Reply, run, unless_left

DONE = {"jsonrpc": "2.0", "id": 1, "result": {}}
SAID = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}


class Client:
    """Sees what it is sent, with the time, and leaves when told to."""

    def __init__(self) -> None:
        self.got: list[Message] = []
        self.times: list[float] = []
        self.left = asyncio.Event()
        self.watches = 0

    async def send(self, message: Message) -> None:
        self.got.append(message)
        self.times.append(asyncio.get_running_loop().time())

    async def receive(self) -> Message:
        self.watches += 1
        await self.left.wait()
        return {"type": "http.disconnect"}

    def told(self) -> list[bytes]:
        return [message["body"] for message in self.got if message["type"] == "http.response.body"]


async def _answer(client: Client, work: Awaitable[dict[str, Any]], reply: Reply, status: int = 200) -> None:
    answer = await unless_left(work, reply, client.receive)
    if answer is not None:
        await reply.end(answer, status)


async def _after(seconds: float, reply: Reply | None = None) -> dict[str, Any]:
    await asyncio.sleep(seconds)
    if reply:
        await reply.event(SAID)
    return DONE


def _as_event(message: Mapping[str, Any]) -> bytes:
    return f"event: message\r\ndata: {json.dumps(message, separators=(',', ':'))}\r\n\r\n".encode()


@pytest.mark.virtual_time
async def test_what_is_done_soon_is_json_with_its_status_and_headers_and_nobody_watched() -> None:
    client = Client()
    reply = Reply(client.send, [(b"x-more", b"1")])

    await _answer(client, _after(YOUNG_S / 2), reply, 404)

    start, body = client.got
    assert (start["status"], body["body"]) == (404, b'{"jsonrpc":"2.0","id":1,"result":{}}')
    assert dict(start["headers"]) == {
        b"content-type": b"application/json",
        b"content-length": b"36",
        b"x-more": b"1",
    }
    assert client.watches == 0


@pytest.mark.virtual_time
async def test_what_takes_longer_is_json_still_while_no_proxy_would_cut_it() -> None:
    client = Client()

    await _answer(client, _after(QUIET_S - 1), Reply(client.send))

    assert client.told() == [b'{"jsonrpc":"2.0","id":1,"result":{}}']


@pytest.mark.virtual_time
async def test_a_word_before_the_end_makes_a_stream_of_events() -> None:
    client = Client()
    reply = Reply(client.send, [(b"x-more", b"1")])

    await _answer(client, _after(0, reply), reply, 404)

    assert client.got[0]["status"] == 200
    assert dict(client.got[0]["headers"])[b"content-type"] == b"text/event-stream"
    assert dict(client.got[0]["headers"])[b"x-more"] == b"1"
    assert client.told() == [_as_event(SAID), _as_event(DONE)]
    assert [message.get("more_body") for message in client.got[1:]] == [True, False]


@pytest.mark.virtual_time
async def test_silence_is_broken_by_comments_and_never_longer_than_promised() -> None:
    client = Client()
    reply = Reply(client.send)
    began_s = asyncio.get_running_loop().time()

    async def work() -> dict[str, Any]:
        await asyncio.sleep(QUIET_S * 1.5)
        await reply.event(SAID)
        return await _after(QUIET_S * 2.5)

    await _answer(client, work(), reply)

    comment = b": still working\r\n\r\n"
    assert client.told() == [comment, _as_event(SAID), comment, comment, _as_event(DONE)]
    times = [began_s, *client.times]
    assert max(after - before for before, after in pairwise(times)) <= QUIET_S + 0.001


@pytest.mark.virtual_time
@pytest.mark.parametrize("after_s", [0.0, YOUNG_S * 3, QUIET_S * 2])
async def test_a_client_that_leaves_ends_the_work_and_gets_no_more(after_s: float) -> None:
    client = Client()
    ended: list[str] = []

    async def work() -> dict[str, Any]:
        try:
            return await _after(1_000)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    asyncio.get_running_loop().call_later(after_s, client.left.set)
    before = asyncio.all_tasks()
    answer = await unless_left(work(), Reply(client.send), client.receive)

    assert (answer, ended) == (None, ["cancelled"])
    assert asyncio.all_tasks() == before
    assert not any(b"result" in body for body in client.told())


@pytest.mark.virtual_time
async def test_a_cancellation_from_outside_leaves_as_one() -> None:
    client = Client()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(unless_left(_after(1_000), Reply(client.send), client.receive))
        await asyncio.sleep(1)
        task.cancel()

    assert task.cancelled()


async def test_what_a_handler_left_with_its_connection_is_closed_whatever_became_of_it() -> None:
    closed: list[str] = []

    async def call(_context: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        connection.exit_stack.callback(closed.append, params.name)
        if params.name == "breaks":
            raise RuntimeError("an inner matter")
        return CallToolResult(content=[TextContent(type="text", text="done")])

    async def nothing() -> Message:
        raise AssertionError("the body was read before")

    server: Server[Any] = Server("test", version="1", on_call_tool=call)
    request = Request({"type": "http", "headers": []}, nothing)
    answers = []
    for name in ("works", "breaks"):
        connection = Connection.from_envelope("2025-11-25", None, {})
        message = JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/call", params={"name": name})
        answers.append(await run(server, message, connection, request, Reply(Client().send)))

    assert closed == ["works", "breaks"]
    assert answers[0]["result"]["content"] == [{"type": "text", "text": "done"}]
    assert answers[1]["error"] == {"code": -32603, "message": "Internal server error"}
