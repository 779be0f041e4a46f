"""Which item of a dataset somebody means who types a name."""

from typing import Any

import typer

from dormouse.adapters.remote.rest import RestClient
from dormouse.cli.terminal import note


async def item_named(client: RestClient, dataset: str, item: str) -> dict[str, Any] | None:
    """By id, external id or name; an ambiguous name is refused rather than guessed.

    Raises `RefusedError` for a dataset that is unknown.
    """
    rows = await client.items(dataset)
    for key in ("id", "externalId", "name"):
        matches = [row for row in rows if row.get(key) == item]
        if len(matches) > 1:
            note(f"{len(matches)} items have this name; give one of their ids:")
            note("\n".join(f"  {row['id']}" for row in matches))
            raise typer.Exit(1)
        if matches:
            return matches[0]
    return None
