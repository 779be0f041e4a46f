"""The worker's process: settings to engine, whose loops run until the process is asked to end."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from dormouse import compose
from dormouse.errors import InvalidInputError, MisconfiguredError
from dormouse_worker.health import answering
from dormouse_worker.settings import WorkerSettings

ALL = "all"
INTERRUPTED = 130  # what a shell reports of a process that an interrupt ended
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def roles_of(name: str) -> frozenset[compose.Role]:
    """Raises `InvalidInputError`."""
    known: dict[str, frozenset[compose.Role]] = {each: frozenset({each}) for each in sorted(compose.ROLES)}
    known[ALL] = compose.ROLES
    if name not in known:
        raise InvalidInputError(f"--role must be one of {', '.join(sorted(known))}", field="role")
    return known[name]


async def work(
    settings: WorkerSettings, roles: frozenset[compose.Role], *, on_ready: Callable[[str], None]
) -> None:
    """Until SIGINT or SIGTERM. `on_ready` gets the line to print once work is taken up.

    Raises `MisconfiguredError`, also for the laptop form, and `UnavailableError` for a server that is away.
    """
    if settings.profile != "distributed":
        raise MisconfiguredError(
            "a worker needs DORMOUSE_PROFILE=distributed: on a laptop the server does the work itself",
            setting="PROFILE",
        )
    async with AsyncExitStack() as stack:
        ending = await stack.enter_async_context(_asked_to_end())
        engine = await stack.enter_async_context(compose.open_shared_engine(settings, roles))
        if settings.health_port:
            await stack.enter_async_context(answering(engine, settings.health_port, ending))
        await stack.enter_async_context(engine.running())
        on_ready(f"Dormouse worker ready: {', '.join(sorted(roles))}")
        await ending.wait()


@asynccontextmanager
async def _asked_to_end() -> AsyncIterator[asyncio.Event]:
    """The first signal sets the event, which lets loops finish their step; a second one ends the process."""
    ending, loop = asyncio.Event(), asyncio.get_running_loop()

    def asked() -> None:
        if ending.is_set():
            os._exit(INTERRUPTED)  # what it did not finish is taken up by another, as after a kill
        ending.set()

    for each in _SIGNALS:
        loop.add_signal_handler(each, asked)
    try:
        yield ending
    finally:
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
