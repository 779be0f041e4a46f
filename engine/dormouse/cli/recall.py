"""`dormouse recall`: what is remembered about a question, with where it is from and when it was said."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dormouse.cli.connection import connected
from dormouse.cli.terminal import note, say

ANSWER = "graph_completion"


async def recall(body: Mapping[str, object], *, as_json: bool) -> int:
    """Returns the exit code: 0, or 1 when nothing was found."""
    async with connected() as client:
        recalled = await client.recall(body)
    _say_what_is_missing(recalled.degraded)
    if as_json:
        say(json.dumps(recalled.entries, ensure_ascii=False, indent=2))
        return 0
    found = [entry for entry in recalled.entries if entry["source"] != "system"]
    for shown in blocks(found):
        say(shown)
    for entry in recalled.entries:
        if entry["source"] == "system":
            note(str(entry["text"]))
            for reason in str(entry.get("error_message") or "").split("; "):
                if reason:
                    note(reason)
    if not recalled.entries:
        note("nothing found")
    return 0 if found else 1


def blocks(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """An answer in words comes first and has no number, so that the numbers are those it cites."""
    memories = [entry for entry in found if entry.get("kind") != ANSWER]
    for entry in found:
        if entry.get("kind") == ANSWER:
            yield f"Answer\n{_indented(entry)}\n"
    for position, entry in enumerate(memories, start=1):
        yield block(position, entry)


def _say_what_is_missing(degraded: Sequence[str]) -> None:
    searched = [part for part in degraded if part != "answer"]
    if searched:
        note(f"part of the search did not answer ({', '.join(searched)}); there may be more")
    if "answer" in degraded:
        note("the language model did not answer: these are quotes of the best memories")


def block(position: int, entry: Mapping[str, Any]) -> str:
    """`1. notes/a.md › Plans, 2026-05-01 [dataset]` and the words below it, with what no longer holds."""
    lines = [f"{position}. {_origin(entry)}", _indented(entry), *_ended(entry)]
    return "\n".join(lines) + "\n"


def _ended(entry: Mapping[str, Any]) -> Iterator[str]:
    for memory in (entry.get("metadata") or {}).get("memories", ()):  # an older server tells none
        if memory["valid_until"]:
            yield f"   → {memory['content']} (until {memory['valid_until'][:10]})"


def _indented(entry: Mapping[str, Any]) -> str:
    text = str(entry.get("text") or entry.get("answer") or "")
    return "\n".join(f"   {line}" for line in text.splitlines())


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
