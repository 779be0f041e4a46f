import asyncio

import pytest

from dormouse.adapters.catalog.shared_run import SharedRun


class Work:
    """Runs until it is let go on, or fails."""

    def __init__(self) -> None:
        self.runs = 0
        self.is_running, self.go_on = asyncio.Event(), asyncio.Event()
        self.failure: Exception | None = None

    async def __call__(self) -> None:
        self.runs += 1
        self.is_running.set()
        await self.go_on.wait()
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure


async def test_all_who_come_during_a_run_share_the_next_one() -> None:
    work = Work()
    shared = SharedRun(work)
    async with asyncio.TaskGroup() as group:
        group.create_task(shared.once_from_now())
        await work.is_running.wait()
        for _ in range(20):
            group.create_task(shared.once_from_now())
        await asyncio.sleep(0)
        work.go_on.set()

    assert work.runs == 2


async def test_who_comes_after_a_run_gets_one_of_their_own() -> None:
    work = Work()
    work.go_on.set()
    shared = SharedRun(work)

    await shared.once_from_now()
    await shared.once_from_now()

    assert work.runs == 2


async def test_a_run_that_fails_is_nobody_elses() -> None:
    work = Work()
    work.failure = ValueError("disk")
    shared = SharedRun(work)
    async with asyncio.TaskGroup() as group:
        first = group.create_task(_fails(shared))
        await work.is_running.wait()
        late = group.create_task(shared.once_from_now())
        await asyncio.sleep(0)
        work.go_on.set()

    assert (first.result(), late.exception(), work.runs) == (True, None, 2)


async def test_a_run_that_is_given_up_is_nobody_elses() -> None:
    work = Work()
    shared = SharedRun(work)
    async with asyncio.TaskGroup() as group:
        given_up = group.create_task(shared.once_from_now())
        await work.is_running.wait()
        late = group.create_task(shared.once_from_now())
        await asyncio.sleep(0)
        given_up.cancel()
        work.go_on.set()
        await late

    assert work.runs == 2


async def _fails(shared: SharedRun) -> bool:
    with pytest.raises(ValueError, match="disk"):
        await shared.once_from_now()
    return True
