import asyncio

import pytest

from dormouse.adapters.catalog.whole import Whole


async def answers() -> str:
    await asyncio.sleep(0)
    return "done"


async def test_waiting_for_a_statement_is_allowed() -> None:
    assert await Whole(answers(), lambda: True) == "done"


async def test_waiting_for_anything_else_ends_the_work() -> None:
    ended = asyncio.Event()

    async def waits() -> None:
        try:
            await asyncio.sleep(0)
        finally:
            ended.set()

    with pytest.raises(RuntimeError, match="nothing but its own methods"):
        await Whole(waits(), lambda: False)

    assert ended.is_set()


async def test_a_cancelled_caller_cancels_the_work() -> None:
    entered, cancelled = asyncio.Event(), asyncio.Event()

    async def waits() -> None:
        try:
            entered.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def calls() -> None:
        await Whole(waits(), lambda: True)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(calls())
        await entered.wait()
        task.cancel()

    assert cancelled.is_set()
