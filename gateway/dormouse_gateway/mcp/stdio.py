"""MCP over standard input and output, relayed message by message to the server that owns the memory.

Every message decides its era for itself: some clients ask the newer way first and shake hands afterwards.
The server answers as it would over HTTP, so the tools, the client's name, progress and cancellation are the
same. Closing an answer's stream cancels the call; what was accepted goes on.
Source: MCP specification, "Transports"; embedded form, "One process owns the data folder".
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx
from mcp.shared.inbound import NAME_BEARING_METHODS, encode_header_value
from mcp.types import INVALID_REQUEST, PARSE_ERROR, PROTOCOL_VERSION_META_KEY

from dormouse.errors import DormouseError
from dormouse_gateway.mcp.lines import LineWriter, read_lines
from dormouse_gateway.mcp.sole_keys import RepeatedKeyError, loads

MAX_IN_FLIGHT = 64
DRAIN_S = 30.0  # after the end of input, answers under way are still written
SIGN_OF_LIFE_S = 120.0  # a server that was started for its clients' sake stays while one of them lives

_TIMEOUT = httpx.Timeout(10.0, read=90.0)  # the server says something every 15 s
_UNREACHABLE = -32000
_OWNER_PATH = "/local/owner"
_NEAR = frozenset({"127.0.0.1", "::1", "localhost"})

log = logging.getLogger(__name__)

Address = tuple[str, str | None]


async def relay_stdio(
    url: str, token: str | None, *, find_again: Callable[[], Awaitable[Address]] | None = None
) -> None:
    """Serve this process's client until its input ends.

    `url` is the server's address with or without `/mcp`; `token` is sent as a bearer token. `find_again`
    names the server anew when it does not answer.
    """
    is_near = urlsplit(url).hostname in _NEAR  # a proxy leads away from this machine
    async with httpx.AsyncClient(timeout=_TIMEOUT, trust_env=not is_near) as client:
        relay = _Relay(client, (endpoint_of(url), token), LineWriter(), find_again)
        async with asyncio.TaskGroup() as group:
            alive = group.create_task(relay.show_life(), name="sign of life")
            async with _draining() as calls:
                async for line in read_lines():
                    await relay.take(line, calls)
            alive.cancel()


def endpoint_of(url: str) -> str:
    """The address of MCP itself: a server's bare address stands for its `/mcp`."""
    bare = url.rstrip("/")
    return bare if urlsplit(bare).path else f"{bare}/mcp"


@asynccontextmanager
async def _draining() -> AsyncIterator[asyncio.TaskGroup]:
    """A group whose tasks get DRAIN_S once the block is over; those still running then are cancelled."""
    try:
        async with asyncio.timeout(None) as deadline, asyncio.TaskGroup() as group:
            yield group
            deadline.reschedule(asyncio.get_running_loop().time() + DRAIN_S)
    except TimeoutError:
        return


@dataclass(slots=True)
class _Relay:
    client: httpx.AsyncClient
    address: Address
    out: LineWriter
    find_again: Callable[[], Awaitable[Address]] | None
    session_id: str | None = None
    version: str | None = None
    calls: dict[str | int, "asyncio.Task[None]"] = field(default_factory=dict)
    room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_IN_FLIGHT))

    async def take(self, line: bytes, group: asyncio.TaskGroup) -> None:
        """Start what the line asks for; only the handshake is waited for, since later messages rest on it."""
        if not line.strip():
            return
        try:
            message = loads(line)
        except RepeatedKeyError as exc:
            await self.out.write(_error(_number_in(line), INVALID_REQUEST, f"Invalid request: {exc}"))
            return
        except (ValueError, RecursionError):
            await self.out.write(_error(None, PARSE_ERROR, "Parse error"))
            return
        if not isinstance(message, dict):
            await self.out.write(_error(None, INVALID_REQUEST, "Send one JSON-RPC message a line"))
        elif message.get("method") == "notifications/cancelled":
            self._cancel(message)
        elif message.get("method") == "initialize":
            await self._exchange(message)
        elif "method" in message:
            await self.room.acquire()
            self._start(message, group)

    async def show_life(self) -> None:
        """Ask the owner now and then; somebody else's server has no such address and is not asked again."""
        while True:
            await asyncio.sleep(SIGN_OF_LIFE_S)
            url, token = self.address
            try:
                answer = await self.client.get(httpx.URL(url).join(_OWNER_PATH), headers=_bearer(token))
            except httpx.HTTPError:
                continue
            if answer.status_code != httpx.codes.OK:
                return

    def _start(self, message: dict[str, Any], group: asyncio.TaskGroup) -> None:
        task = group.create_task(self._exchange(message), name=f"relay {message['method']}")
        number = message.get("id")
        if isinstance(number, str | int):
            self.calls[number] = task
            task.add_done_callback(lambda _: self.calls.pop(number, None))
        task.add_done_callback(lambda _: self.room.release())

    def _cancel(self, message: dict[str, Any]) -> None:
        """No answer follows: the client does not wait for one any more."""
        number = (message.get("params") or {}).get("requestId")
        if isinstance(number, str | int) and number in self.calls:
            self.calls[number].cancel()

    async def _exchange(self, message: dict[str, Any]) -> None:
        try:
            await self._forward(message)
        except httpx.ConnectError:
            await self._forward_elsewhere(message)
        except (httpx.NetworkError, httpx.RemoteProtocolError) as exc:
            if self.find_again is None:
                await self._broke(message, exc)
            else:
                # The owner ended under the call. Remembering or forgetting the same twice changes nothing.
                await self._forward_elsewhere(message)
        except (httpx.HTTPError, ValueError) as exc:
            await self._broke(message, exc)

    async def _broke(self, message: dict[str, Any], error: Exception) -> None:
        log.warning("relay_failed", extra={"error": type(error).__name__})
        await self._answer(message, _error(None, _UNREACHABLE, "The connection to Dormouse broke; try again."))

    async def _forward_elsewhere(self, message: dict[str, Any]) -> None:
        """It was not answered, so it may be sent to whoever owns the memory now."""
        lost = _error(None, _UNREACHABLE, "Dormouse does not answer; start it with `dormouse serve`.")
        if self.find_again is None:
            await self._answer(message, lost)
            return
        try:
            url, token = await self.find_again()
            self.address = (endpoint_of(url), token)
            await self._forward(message)
        except (httpx.HTTPError, DormouseError):
            await self._answer(message, lost)

    async def _forward(self, message: dict[str, Any]) -> None:
        url, token = self.address
        headers = {**_bearer(token), **self._headers(message)}
        async with self.client.stream("POST", url, content=json.dumps(message), headers=headers) as answer:
            if message["method"] == "initialize":
                self.session_id = answer.headers.get("mcp-session-id")
            async for reply in _messages(answer):
                await self._answer(message, reply)
                if "method" not in reply:
                    return  # what breaks after the answer is nobody's trouble

    def _headers(self, message: dict[str, Any]) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if message["method"] != "initialize" and (modern := _modern_version(params)):
            headers |= {"Mcp-Protocol-Version": modern, "Mcp-Method": message["method"]}
            name = params.get(NAME_BEARING_METHODS.get(message["method"], ""))
            return headers | ({"Mcp-Name": encode_header_value(name)} if isinstance(name, str) else {})
        known = {"Mcp-Protocol-Version": self.version, "Mcp-Session-Id": self.session_id}
        return headers | {
            name: value for name, value in known.items() if value and message["method"] != "initialize"
        }

    async def _answer(self, message: dict[str, Any], reply: dict[str, Any]) -> None:
        """A reply that carries no id of its own is the answer to this message; notifications get none."""
        if "method" not in reply:
            if "id" not in message:
                return
            reply = {**reply, "id": message["id"]}
            if message["method"] == "initialize":
                self.version = (reply.get("result") or {}).get("protocolVersion")
        await self.out.write(reply)


def _number_in(line: bytes) -> str | int | None:
    """The id of a message that is refused, so that the client does not wait for its answer."""
    message = json.loads(line)
    number = message.get("id") if isinstance(message, dict) else None
    return number if isinstance(number, str | int) else None


def _modern_version(params: Mapping[str, Any]) -> str | None:
    meta = params.get("_meta")
    version = meta.get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None
    return version if isinstance(version, str) else None


async def _messages(answer: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    """Every message of an answer, however it came; none for a notification that was taken."""
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if kind == "text/event-stream":
        async for message in _events(answer):
            yield message
        return
    body = await answer.aread()
    if not body and answer.is_success:
        return
    found = _json(body)
    if isinstance(found, dict) and found.get("jsonrpc") == "2.0":
        yield found
    else:
        yield _error(None, _UNREACHABLE, _refusal(answer.status_code))


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except ValueError:
        return None


async def _events(answer: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    data: list[str] = []
    async for line in answer.aiter_lines():
        if line.startswith("data:"):
            data.append(line.removeprefix("data:").lstrip())
        elif not line and data:
            yield json.loads("\n".join(data))
            data = []


def _refusal(status: int) -> str:
    if status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        return "Dormouse refused the key; check DORMOUSE_REMOTE__API_KEY."
    if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
        return "The message is too large; content may have at most 10 MiB."
    if status == httpx.codes.TOO_MANY_REQUESTS:
        return "Dormouse is asked too much at once; try again in a few seconds."
    return f"Dormouse answered with status {status}; check that the address is right."


def _bearer(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def _error(number: str | int | None, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
