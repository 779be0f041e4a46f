"""`dormouse export`: everything that is remembered, as JSON Lines on standard output or in a file."""

import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from dormouse.adapters.remote.rest import RestClient
from dormouse.cli.connection import connected
from dormouse.cli.terminal import amount, note
from dormouse.errors import UnavailableError

END = "end"  # the kind of the last line


async def export(datasets: Sequence[str], output: str, *, has_vectors: bool) -> int:
    """Returns the exit code. A file appears whole or not at all, and only its owner may read it."""
    params: dict[str, str | list[str]] = {"vectors": "true" if has_vectors else "false"}
    if datasets:
        params["dataset"] = list(datasets)
    async with connected() as client:
        if not output:
            await _print(_whole(client, params))
            return 0
        path = Path(output)
        rows = await _write(_whole(client, params), path)
    note(f"{amount(rows, 'row')} in {path}")
    return 0


async def _whole(client: RestClient, params: dict[str, str | list[str]]) -> AsyncIterator[str]:
    """Its lines; raises `UnavailableError` if the last one is not the end."""
    last = "{}"
    async for line in client.export(params):
        yield line
        last = line
    if json.loads(last).get("row") != END:
        raise UnavailableError("the export broke off before its end: try again")


async def _print(lines: AsyncIterator[str]) -> None:
    async for line in lines:
        sys.stdout.write(f"{line}\n")


async def _write(lines: AsyncIterator[str], path: Path) -> int:
    draft = path.with_name(f"{path.name}.part")
    rows = 0
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            async for line in lines:
                file.write(f"{line}\n")
                rows += 1
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return rows - 2  # the first and the last are not memory
