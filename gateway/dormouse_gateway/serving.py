"""`dormouse serve`: settings from the environment and the command line, then the server until it ends."""

import asyncio
import gc
import time
from collections.abc import Mapping
from contextlib import suppress

import typer

from dormouse.adapters.data_folder.find import running_owner
from dormouse.adapters.data_folder.server_file import ServerAddress
from dormouse.errors import DataFolderBusyError
from dormouse.observability.process import observed
from dormouse.settings import read
from dormouse_gateway.app import serve
from dormouse_gateway.settings import GatewaySettings

SERVICE_NAME = "dormouse-gateway"
ENDING_S = 3.0
LOOK_AGAIN_S = 0.1


async def serve_folder(
    environ: Mapping[str, str], overrides: Mapping[str, object], *, idle_exit_s: float | None
) -> None:
    """Until it is stopped, or idle for `idle_exit_s`.

    Raises `MisconfiguredError` and, when another process owns the folder, `DataFolderBusyError` with where.
    """
    settings = read(GatewaySettings, environ, **overrides)
    with observed(settings, SERVICE_NAME, environ):
        deadline = time.monotonic() + ENDING_S
        while True:
            try:
                return await serve(settings, on_ready=_announce, idle_exit_s=idle_exit_s)
            except DataFolderBusyError as exc:
                address = await running_owner(settings.data_dir)
                # One that is ending, or was killed just now: the system may hold its lock for a moment more.
                if address is not None or time.monotonic() > deadline:
                    raise _busy(address) from exc
            await asyncio.sleep(LOOK_AGAIN_S)


def _announce(lines: str) -> None:
    """What was made until now stays for good: later collections need not look at it."""
    gc.freeze()
    gc.enable()
    with suppress(BrokenPipeError):  # nobody reads the lines; the server is what counts
        typer.echo(lines)


def _busy(address: ServerAddress | None) -> DataFolderBusyError:
    if address is None:
        return DataFolderBusyError("another process owns the data folder and does not answer yet")
    return DataFolderBusyError(
        f"the memory is already served at {address.url} (process {address.pid}); "
        "use it, or end it with `dormouse stop`"
    )
