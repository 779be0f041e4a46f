"""Signs of life."""

import asyncio

import pytest

from dormouse.errors import NotFoundError
from dormouse_gateway.mcp.progress import ProgressReporter


@pytest.mark.virtual_time
async def test_no_silence_is_longer_than_fifteen_seconds() -> None:
    times: list[float] = []

    async def send(_progress: float, _message: str) -> None:
        times.append(asyncio.get_running_loop().time())

    reporter = ProgressReporter(send)
    started = asyncio.get_running_loop().time()
    async with reporter.beating():
        await asyncio.sleep(95)

    gaps = [after - before for before, after in zip([started, *times], [*times, started + 95], strict=True)]
    assert max(gaps) <= 15


@pytest.mark.virtual_time
async def test_progress_grows_with_every_message_and_repeats_the_last_words() -> None:
    sent: list[tuple[float, str]] = []

    async def send(progress: float, message: str) -> None:
        sent.append((progress, message))

    reporter = ProgressReporter(send)
    async with reporter.beating():
        await reporter.report("extracting")
        await asyncio.sleep(11)
        await reporter.report("applying")

    assert sent == [(1.0, "extracting"), (2.0, "extracting"), (3.0, "applying")]


@pytest.mark.virtual_time
async def test_an_error_inside_leaves_as_it_is() -> None:
    async def send(_progress: float, _message: str) -> None: ...

    with pytest.raises(NotFoundError):
        async with ProgressReporter(send).beating():
            raise NotFoundError("no such job")
