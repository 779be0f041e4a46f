"""`dormouse ontology`: names and kinds of a field, kept under keys of one's own."""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from dormouse.adapters.remote.rest import RefusedError, RestClient, Upload
from dormouse.cli.connection import connected
from dormouse.cli.terminal import amount, note, printable, say


async def add(key: str, file: Path, description: str, *, as_json: bool) -> int:
    """Returns the exit code; the very same file under the same key is there already, which is no failure."""
    content = await asyncio.to_thread(file.read_bytes)
    fields: dict[str, str | list[str]] = {"ontology_key": key}
    if description:
        fields["description"] = description
    async with connected() as client:
        try:
            await client.add_ontology(Upload(file.name, content, fields))
        except RefusedError:
            if not await _is_there(client, key, content):
                raise
            note("already there")
        (row,) = [each for each in await _rows(client) if each["ontology_key"] == key]
    say(json.dumps(row, indent=2) if as_json else line(row))
    return 0


async def listing(*, as_json: bool) -> int:
    async with connected() as client:
        rows = await _rows(client)
    if as_json:
        say(json.dumps(rows, indent=2))
        return 0
    for row in rows:
        say(line(row))
    if not rows:
        note("no ontologies; `dormouse ontology add KEY FILE` uploads one")
    return 0


async def show(key: str) -> int:
    """Returns the exit code: 1 when there is none under the key. Into a pipe or a file, byte for byte."""
    async with connected() as client:
        if not await _is_known(client, key):
            return 1
        content = await client.ontology(key)
    if sys.stdout.isatty():
        say(printable(content.decode("utf-8", "replace")))
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    return 0


async def delete(key: str, *, is_confirmed: bool) -> int:
    """Returns the exit code: 0 when it is gone, 1 when there was none under the key."""
    async with connected() as client:
        if not await _is_known(client, key):
            return 1
        if not is_confirmed:
            typer.confirm(f"Delete ontology {printable(key)}?", abort=True)
        await client.delete_ontology(key)
    say(f"deleted {key}")
    return 0


def line(row: Mapping[str, Any]) -> str:
    """Key, time, file, size, and what its owner said about it."""
    uploaded = f"{str(row['uploaded_at'])[:19]}Z"
    size = amount(row["size_bytes"], "byte")
    parts = (row["ontology_key"], uploaded, row["filename"], size, row.get("description") or "")
    return "  ".join(part for part in parts if part)


async def _rows(client: RestClient) -> Sequence[dict[str, Any]]:
    found = await client.ontologies()
    return [{"ontology_key": key, **found[key]} for key in sorted(found)]


async def _is_known(client: RestClient, key: str) -> bool:
    if key in await client.ontologies():
        return True
    note(f"there is no ontology {key}; `dormouse ontology list` shows yours")
    return False


async def _is_there(client: RestClient, key: str, content: bytes) -> bool:
    return key in await client.ontologies() and await client.ontology(key) == content
