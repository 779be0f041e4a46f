"""`dormouse forget`: an item, a dataset, or everything of one's own; asks first."""

from typing import Any

import typer

from dormouse.cli.connection import connected
from dormouse.cli.item import item_named
from dormouse.cli.terminal import note, say


async def forget(dataset: str, item: str, *, everything: bool, is_confirmed: bool) -> int:
    """Returns the exit code: 0 when it is gone from every store, 1 when it was not there or not yet gone."""
    async with connected() as client:
        if everything:
            _confirm("everything that you own", is_confirmed)
            return _settled(await client.forget({"everything": True}), "everything")
        if not item:
            _confirm(f"dataset {dataset}", is_confirmed)
            return _settled(await client.forget({"dataset": dataset}), f"dataset {dataset}")
        found = await item_named(client, dataset, item)
        if found is None:
            note(f"there is no item {item} in dataset {dataset}")
            return 1
        _confirm(f"{found['name'] or found['id']} in dataset {dataset}", is_confirmed)
        return _settled(await client.forget({"dataset": dataset, "data_id": found["id"]}), str(found["name"]))


def _confirm(what: str, is_confirmed: bool) -> None:  # noqa: FBT001 - private, both callers pass the flag on
    if not is_confirmed:
        typer.confirm(f"Forget {what} for good?", abort=True)


def _settled(answer: dict[str, Any], what: str) -> int:
    if answer["status"] == "running":
        note(f"{what}: hidden already, still being erased; `dormouse jobs` shows when it is done")
        return 1
    say(f"forgot {what}")
    return 0
