"""`dormouse stop`: end the server that owns the data folder, as a SIGTERM from a terminal would."""

import asyncio
import os
import signal

from dormouse.adapters.data_folder.find import running_owner
from dormouse.cli.terminal import note, say
from dormouse.errors import MisconfiguredError
from dormouse.settings import ClientSettings, read

_BUDGET_S = 30.0
_LOOK_AGAIN_S = 0.1


async def stop() -> int:
    """Returns the exit code: 0 when none runs any more."""
    settings = read(ClientSettings, os.environ)
    if settings.remote.url:
        raise MisconfiguredError(
            f"DORMOUSE_REMOTE__URL names {settings.remote.url}: a server is stopped on its own machine",
            setting="REMOTE__URL",
        )
    folder = settings.data_dir
    owner = await running_owner(folder)
    if owner is None:
        note("no server runs")
        return 0
    os.kill(owner.pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(_BUDGET_S):
            while await running_owner(folder) is not None:  # noqa: ASYNC110 - another process sets no event
                await asyncio.sleep(_LOOK_AGAIN_S)
    except TimeoutError:
        note(f"process {owner.pid} is still busy; it ends when its work is safe")
        return 1
    say("stopped")
    return 0
