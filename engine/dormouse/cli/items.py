"""`dormouse items`: what a dataset holds, by name."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dormouse.cli.connection import connected
from dormouse.cli.terminal import amount, note, say


async def listing(dataset: str, *, as_json: bool) -> int:
    """Returns the exit code. Raises `RefusedError` for a dataset that is unknown."""
    async with connected() as client:
        rows = sorted(await client.items(dataset), key=lambda row: (row["name"], row["id"]))
    if as_json:
        say(json.dumps(rows, indent=2))
        return 0
    for row in rows:
        say(line(row))
    if not rows:
        note("no items")
    return 0


def line(row: Mapping[str, Any]) -> str:
    """Id, time of its newest version, name, own id, size, and what is unusual about it."""
    updated = f"{str(row['updatedAt'])[:19]}Z"
    external = row.get("externalId") or ""
    named = external if external != row["name"] else ""
    return "  ".join(part for part in (row["id"], updated, row["name"], named, *_about(row)) if part)


def _about(row: Mapping[str, Any]) -> Iterator[str]:
    yield amount(row["dataSize"], "byte")
    if row["revision"] > 1:
        yield f"version {row['revision']}"
    if row["isStaged"]:
        yield "added only"
    elif not row["isSearchable"]:
        yield "not searchable yet"
    if row["isSuppressed"]:
        yield "suppressed"
