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
    """`1. notes/a.md › Plans, 2026-05-01 [dataset]` and the words below it, indented."""
    text = str(entry.get("text") or entry.get("answer") or "")
    indented = "\n".join(f"   {line}" for line in text.splitlines())
    return f"{position}. {_origin(entry)}\n{indented}\n"


def _origin(entry: Mapping[str, Any]) -> str:
    if entry["source"] == "session":
        return f"session, {str(entry.get('time', ''))[:10]}"
    about = entry.get("metadata") or {}
    name = about.get("document_name") or about.get("external_id") or entry.get("kind", "")
    source = " › ".join(part for part in (str(name), _place(about)) if part)
    dataset = f" [{entry['dataset_name']}]" if entry.get("dataset_name") else ""
    return ", ".join(part for part in (source, _date(about)) if part) + dataset


def _place(about: Mapping[str, Any]) -> str:
    """Who said it, or the headings it stands under."""
    name, heading = str(about.get("document_name") or ""), str(about.get("heading") or "")
    return str(about.get("speaker") or heading.removeprefix(name).removeprefix(" › "))


def _date(about: Mapping[str, Any]) -> str:
    """When it was said, to the minute in a conversation; of what has no date, when it was remembered."""
    said = str(about.get("occurred_at") or "")
    if said:
        return f"{said[:10]} {said[11:16]} UTC" if about.get("speaker") else said[:10]
    remembered = str(about.get("remembered_at") or "")[:10]
    return f"remembered {remembered}" if remembered else ""
