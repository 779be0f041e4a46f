"""Items of a folder whose files are gone: told after it was remembered, and forgotten if that is wanted.

An item belongs to a folder by its name, which begins with the folder's.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from dormouse.adapters.remote.rest import RestClient
from dormouse.cli.terminal import amount, note, say
from dormouse.text.naming import composed

SHOWN = 10


async def tell_what_is_gone(
    client: RestClient, dataset: str, paths: Sequence[str], there: Collection[str], *, forgets: bool
) -> None:
    """`there` are the names of the files that were found, read or not."""
    folders = _names_of_folders(paths)
    if not folders:
        return
    names = {composed(name) for name in there}
    gone = [
        item
        for item in await client.items(dataset)
        if item["name"].partition("/")[0] in folders and "/" in item["name"] and item["name"] not in names
    ]
    if not gone:
        return
    note(f"{amount(len(gone), 'item')} of {', '.join(sorted(folders))} without a file:")
    for item in gone[:SHOWN]:
        note(f"  {item['name']}")
    if len(gone) > SHOWN:
        note(f"  and {len(gone) - SHOWN} more")
    if not forgets:
        note("they stay remembered; `--prune` with the same command forgets them")
        return
    typer.confirm(f"Forget {amount(len(gone), 'item')} for good?", abort=True)
    await _forget(client, dataset, gone)


def _names_of_folders(paths: Sequence[str]) -> set[str]:
    return {composed(Path(path).resolve().name) for path in paths if Path(path).is_dir()}


async def _forget(client: RestClient, dataset: str, gone: Sequence[Mapping[str, Any]]) -> None:
    for item in gone:
        await client.forget({"dataset": dataset, "data_id": item["id"]})
    say(f"forgot {amount(len(gone), 'item')}")
