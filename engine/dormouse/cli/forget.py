"""`dormouse forget`: an item, a dataset, or everything of one's own; asks first."""

from typing import Any

import typer

from dormouse.adapters.remote.rest import RestClient
from dormouse.cli.connection import connected
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
        found = await _item(client, dataset, item)
        if found is None:
            note(f"there is no item {item} in dataset {dataset}")
            return 1
        _confirm(f"{found['name'] or found['id']} in dataset {dataset}", is_confirmed)
        return _settled(await client.forget({"dataset": dataset, "data_id": found["id"]}), str(found["name"]))


async def _item(client: RestClient, dataset: str, item: str) -> dict[str, Any] | None:
    """By id, external id or name; an ambiguous name is refused rather than guessed."""
    owned = [row for row in await client.datasets() if dataset in {row["name"], row["id"]}]
    if not owned:
        return None
    rows = await client.items(owned[0]["id"])
    for key in ("id", "externalId", "name"):
        matches = [row for row in rows if row.get(key) == item]
        if len(matches) > 1:
            note(f"{len(matches)} items have this name; give one of their ids:")
            note("\n".join(f"  {row['id']}" for row in matches))
            raise typer.Exit(1)
        if matches:
            return matches[0]
    return None


def _confirm(what: str, is_confirmed: bool) -> None:  # noqa: FBT001 - private, both callers pass the flag on
    if not is_confirmed:
        typer.confirm(f"Forget {what} for good?", abort=True)


def _settled(answer: dict[str, Any], what: str) -> int:
    if answer["status"] == "running":
        note(f"{what}: hidden already, still being erased; `dormouse jobs` shows when it is done")
        return 1
    say(f"forgot {what}")
    return 0
