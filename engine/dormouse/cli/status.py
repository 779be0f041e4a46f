"""`dormouse status`: which server holds the memory, and how much is in it. Starts none."""

import json
import os
from collections.abc import Mapping
from typing import Any

from dormouse.adapters.data_folder.find import running_owner
from dormouse.adapters.data_folder.lock import is_owned
from dormouse.adapters.data_folder.server_file import published
from dormouse.cli.connection import connected
from dormouse.cli.terminal import amount, note, say
from dormouse.settings import ClientSettings, read


async def status(*, as_json: bool) -> int:
    """Returns the exit code: 0 when a server is ready, 1 when it is not or none runs."""
    settings = read(ClientSettings, os.environ)
    owner = None if settings.remote.url else await running_owner(settings.data_dir)
    if owner is None and not settings.remote.url:
        # Asked only where one was: asking takes the lock for a moment, which a server that starts would meet.
        if published(settings.data_dir) and is_owned(settings.data_dir):
            note(
                "the server of this data folder does not answer; if that stays, end its process and start again"
            )
            return 1
        note(f"no server runs for {settings.data_dir}; any command that needs one starts it")
        return 1
    async with connected() as client:
        now = await client.status()
        datasets = await client.datasets()
    url = owner.url if owner else settings.remote.url
    if as_json:
        say(json.dumps({**now, "url": url, "dataDir": str(settings.data_dir)}, indent=2))
        return 0 if not now["problems"] else 1
    say(f"{now['status']}: {url} (version {now['version']}, process {now['pid']})")
    if owner:
        say(f"data folder: {settings.data_dir}")
    say(held(now))
    for row in datasets:
        say(f"  {row['name']}: {amount(row['documents'], 'document')}, {amount(row['passages'], 'passage')}")
    for problem in now["problems"]:
        note(f"problem: {problem['message']}")
    for warning in now.get("warnings", ()):  # a server elsewhere may be an older one
        note(f"warning: {warning['message']}")
    return 0 if not now["problems"] else 1


def held(now: Mapping[str, Any]) -> str:
    """`1 document, 3 passages, 0 unfinished jobs`."""
    kinds = {"documents": "document", "passages": "passage", "unfinishedJobs": "unfinished job"}
    return ", ".join(amount(now[field], thing) for field, thing in kinds.items())
