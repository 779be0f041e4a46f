"""`dormouse rebuild`: graph and vectors anew from catalog and blobs, whether a server runs or cannot start."""

import asyncio
import os
from collections.abc import Sequence
from typing import Any

import typer

from dormouse import compose
from dormouse.adapters.data_folder.find import running_owner
from dormouse.adapters.data_folder.lock import owned
from dormouse.adapters.remote.rest import RestClient
from dormouse.cli.connection import connected
from dormouse.cli.terminal import Progress, note, progress, say
from dormouse.errors import ConflictError, MisconfiguredError
from dormouse.model.rebuild import DerivedStore
from dormouse.settings import ClientSettings, read

_FINAL = frozenset({"complete", "failed", "cancelled"})
_LOOK_AGAIN_S = 0.25
_QUESTION = "Make {} anew from what was remembered? Nothing is lost, and it may take minutes."

_MIGRATION = "Embed everything anew with the configured model? Recalls are answered meanwhile."


async def rebuild(stores: Sequence[DerivedStore], *, is_confirmed: bool) -> int:
    """Returns the exit code: 0 when they are whole."""
    settings = _local_settings()
    if not is_confirmed:
        typer.confirm(_QUESTION.format(" and ".join(stores)), abort=True)
    if await running_owner(settings.data_dir):
        async with connected() as client:
            return await followed(client, (await client.rebuild(stores))["id"])
    # Noted before a server is started: this one may be what lets it start.
    with owned(settings.data_dir):
        job = await compose.request_rebuild(settings, stores)
    async with connected() as client:
        return await followed(client, job.id)


async def migrate(*, is_confirmed: bool) -> int:
    """To the embedding model that is configured. Returns the exit code."""
    settings = _local_settings()
    if not is_confirmed:
        typer.confirm(_MIGRATION, abort=True)
    if await running_owner(settings.data_dir):
        async with connected() as client:
            return await followed(client, (await client.migrate_embedding())["id"])
    with owned(settings.data_dir):
        job = await compose.request_migration(settings)
    async with connected() as client:
        return await followed(client, job.id)


async def drop_migration() -> int:
    """Without a server none is started: it would go on with the move until it is told.

    Returns the exit code.
    """
    settings = _local_settings()
    if await running_owner(settings.data_dir):
        async with connected() as client:
            await client.drop_migration()
    else:
        with owned(settings.data_dir):
            if await compose.drop_migration(settings) is None:
                raise ConflictError("no other embedding model is being moved to")
    say("dropped: the former model answers as before")
    return 0


def _local_settings() -> ClientSettings:
    settings = read(ClientSettings, os.environ)
    if settings.remote.url:
        raise MisconfiguredError("a memory is rebuilt on the machine that holds it, not through its address")
    return settings


async def followed(client: RestClient, job_id: str) -> int:
    """Until the job is over, with its progress shown. Returns the exit code."""
    job = await client.job(job_id)
    with progress(job["counts"]["passages"]) as shown:
        while job["stage"] not in _FINAL:
            _show(shown, job)
            await asyncio.sleep(_LOOK_AGAIN_S)
            job = await client.job(job_id)
        _show(shown, job)
    if job["stage"] != "complete":
        note(str((job.get("error") or {}).get("message") or f"{job['stage']}: {job.get('cancelReason')}"))
        return 1
    say(f"done: {job['counts']['done']:,} passages (job {job_id})")
    return 0


def _show(shown: Progress, job: dict[str, Any]) -> None:
    shown.reach(job["counts"]["done"], job["counts"]["passages"], "passages")
