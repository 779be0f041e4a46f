import asyncio
from collections.abc import Callable

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send

from dormouse_gateway.settings import RateLimitSettings
from dormouse_gateway.web.overload import OverloadGuard
from dormouse_gateway.web.problems import AsciiResponse


class _Named:
    """Stands for authentication: the caller is whom the header names."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        names = dict(scope["headers"])
        if b"name" in names:
            scope["state"] = {"principal": names[b"name"].decode()}
        await self._app(scope, receive, send)


class _Held:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.entered = asyncio.Semaphore(0)
        self.release = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.entered.release()
        await self.release.wait()
        await AsciiResponse("served")(scope, receive, send)


async def _at_once(scope: Scope, receive: Receive, send: Send) -> None:
    await AsciiResponse("served")(scope, receive, send)


def a_client(
    app: ASGIApp, exempt: Callable[[str], bool] = lambda _: False, **limits: object
) -> httpx.AsyncClient:
    guard = OverloadGuard(app, RateLimitSettings.model_validate(limits), exempt=exempt, clock=lambda: 0.0)
    return httpx.AsyncClient(transport=httpx.ASGITransport(_Named(guard)), base_url="http://localhost")


async def ask(client: httpx.AsyncClient, name: str = "ada", path: str = "/") -> httpx.Response:
    return await client.get(path, headers={"name": name})


async def test_beyond_its_rate_a_caller_is_told_when_to_come_back() -> None:
    async with a_client(_at_once, requests_per_s=0.5, burst=2) as client:
        statuses = [(await ask(client)).status_code for _ in range(2)]
        refused = await ask(client)
        other = await ask(client, "bob")

    assert statuses == [200, 200]
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    assert refused.json()["code"] == "overloaded"
    assert other.status_code == 200


async def test_what_runs_at_once_is_bounded_for_a_caller_and_for_all() -> None:
    held = _Held()
    async with a_client(held, concurrent_per_caller=1, concurrent=2) as client, asyncio.TaskGroup() as group:
        first = group.create_task(ask(client))
        await held.entered.acquire()
        second_of_one = await ask(client)
        other = group.create_task(ask(client, "bob"))
        await held.entered.acquire()
        one_too_many = await ask(client, "eve")
        held.release.set()

    assert [each.status_code for each in (second_of_one, one_too_many)] == [429, 429]
    assert [(await each).status_code for each in (first, other)] == [200, 200]


async def test_an_answer_frees_its_place() -> None:
    async with a_client(_at_once, concurrent_per_caller=1) as client:
        assert [(await ask(client)).status_code for _ in range(3)] == [200, 200, 200]


async def test_exempt_paths_and_nobodys_requests_are_not_counted() -> None:
    async with a_client(_at_once, lambda path: path == "/local", burst=1) as client:
        await ask(client)
        statuses = [(await ask(client, path="/local")).status_code, (await client.get("/")).status_code]

    assert statuses == [200, 200]
