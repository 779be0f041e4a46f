"""`dormouse suppress` and `dormouse restore`: hide an item from every recall, and show it again."""

from collections.abc import Awaitable, Callable
from typing import Any

from dormouse.adapters.remote.rest import RestClient
from dormouse.cli.connection import connected
from dormouse.cli.item import item_named
from dormouse.cli.terminal import note, say

Send = Callable[[RestClient, str, str], Awaitable[dict[str, Any]]]


async def suppress(dataset: str, item: str) -> int:
    """Returns the exit code: 0 when no recall finds it any more, 1 when there is no such item."""
    return await _sent(dataset, item, RestClient.suppress, "suppressed")


async def restore(dataset: str, item: str) -> int:
    """Returns the exit code: 0 when recalls find it again, 1 when there is no such item or not yet."""
    return await _sent(dataset, item, RestClient.restore, "restored")


async def _sent(dataset: str, item: str, send: Send, done: str) -> int:
    async with connected() as client:
        found = await item_named(client, dataset, item)
        if found is None:
            note(f"there is no item {item} in dataset {dataset}")
            return 1
        answer = await send(client, found["datasetId"], found["id"])
    if answer["stage"] != "complete":
        note(f"{found['name']}: accepted; `dormouse jobs {answer['id']}` shows when it is done")
        return 1
    say(f"{done} {found['name']}")
    return 0
