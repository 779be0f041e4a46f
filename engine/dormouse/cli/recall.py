"""`dormouse recall`: what is remembered about a question, with where it is from and when it was said."""

import json
from collections.abc import Mapping
from typing import Any

from dormouse.cli.connection import connected
from dormouse.cli.terminal import note, say


async def recall(body: Mapping[str, object], *, as_json: bool) -> int:
    """Returns the exit code: 0, or 1 when nothing was found."""
    async with connected() as client:
        entries = await client.recall(body)
    if as_json:
        say(json.dumps(entries, ensure_ascii=False, indent=2))
        return 0
    found = [entry for entry in entries if entry["source"] != "system"]
    for position, entry in enumerate(found, start=1):
        say(block(position, entry))
    for entry in entries:
        if entry["source"] == "system":
            note(str(entry["text"]))
    if not entries:
        note("nothing found")
    return 0 if found else 1


def block(position: int, entry: Mapping[str, Any]) -> str:
    """`1. notes/a.md, 2026-05-01 [dataset]` and the words below it, indented."""
    text = str(entry.get("text") or entry.get("answer") or "")
    indented = "\n".join(f"   {line}" for line in text.splitlines())
    return f"{position}. {_origin(entry)}\n{indented}\n"


def _origin(entry: Mapping[str, Any]) -> str:
    if entry["source"] == "session":
        return f"session, {str(entry.get('time', ''))[:10]}"
    about = entry.get("metadata") or {}
    name = about.get("document_name") or about.get("external_id") or entry.get("kind", "")
    said = str(about.get("occurred_at") or "")[:10]
    dataset = f"[{entry['dataset_name']}]" if entry.get("dataset_name") else ""
    return " ".join(part for part in (f"{name}, {said}" if said else str(name), dataset) if part)
