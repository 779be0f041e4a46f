"""Holding a lease while a block runs: renewed in the background, and the block ends when it is lost."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from dormouse.errors import LeaseLostError, UnavailableError

LEASE_MS = 15_000
RENEW_EVERY_S = 5.0  # two tries before it runs out


@asynccontextmanager
async def held(
    renew: Callable[[], Awaitable[object]], *, every_s: float = RENEW_EVERY_S
) -> AsyncIterator[None]:
    """Run the block while `renew` succeeds; raises `LeaseLostError` in its place once it was lost.

    A catalog that does not answer is asked again: the lease itself decides when it is too late.
    """
    failure: Exception | None = None
    is_lost = False
    try:
        async with asyncio.TaskGroup() as group:
            keeper = group.create_task(_renew(renew, every_s), name="lease")
            try:
                yield
            except Exception as exc:  # noqa: BLE001  raised again below, outside the group
                failure = exc
            finally:
                keeper.cancel()
    except* LeaseLostError:
        is_lost = True
    if is_lost:
        raise LeaseLostError("a successor took over")
    if failure is not None:
        raise failure


async def _renew(renew: Callable[[], Awaitable[object]], every_s: float) -> None:
    while True:
        await asyncio.sleep(every_s)
        try:
            await renew()
        except UnavailableError:
            continue
