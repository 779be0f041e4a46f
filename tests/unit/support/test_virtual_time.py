import asyncio
import time

import pytest

from tests.virtual_time import VirtualTimeLoop

pytestmark = pytest.mark.virtual_time


async def test_an_hour_passes_at_once() -> None:
    started_s, loop = time.monotonic(), asyncio.get_running_loop()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(3600):
            await asyncio.Event().wait()

    assert isinstance(loop, VirtualTimeLoop)
    assert loop.time() == pytest.approx(3600)
    assert time.monotonic() - started_s < 60


async def test_timers_fire_in_order_of_their_deadlines() -> None:
    fired: list[int] = []

    async def fire(after_s: int) -> None:
        await asyncio.sleep(after_s)
        fired.append(after_s)

    async with asyncio.TaskGroup() as group:
        for after_s in (30, 10, 20):
            group.create_task(fire(after_s), name=f"after {after_s}")

    assert fired == [10, 20, 30]


async def test_what_needs_no_time_takes_none() -> None:
    loop = asyncio.get_running_loop()
    started_s = loop.time()
    turn = asyncio.Event()
    loop.call_soon(turn.set)
    async with asyncio.timeout(1):
        await turn.wait()

    assert loop.time() == started_s


async def test_a_thread_can_still_wake_the_loop() -> None:
    assert await asyncio.to_thread(lambda: 42) == 42


@pytest.fixture
async def an_open_thing() -> asyncio.Event:
    """An async fixture shares the test's loop."""
    await asyncio.sleep(5)
    return asyncio.Event()


async def test_fixtures_run_on_the_same_loop(an_open_thing: asyncio.Event) -> None:
    assert not an_open_thing.is_set()
    assert asyncio.get_running_loop().time() == pytest.approx(5)
