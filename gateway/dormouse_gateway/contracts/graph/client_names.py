"""Which dataset a client writes to when it names none: one of its own.

A client's name is what it says about itself; it chooses a default and decides nothing else.
Source: graph contract, "remember"; the recorded table of 28 names.
"""

import re

DEFAULT_DATASET = "main_dataset"

# From the first bracket on, when the name ends in one: "cursor-vscode (via mcp-remote 0.1)" is a cursor.
_PARENTHETICAL = re.compile(r"\s*\([^\n]*?\)\s*$")
_NOT_NAME = re.compile(r"[^a-z0-9_]+")


def dataset_of_client(client_name: str | None, *, is_scoped: bool = True) -> str:
    """`<client>_memory`, or the shared default when there is no name or scoping is switched off."""
    if client_name is None or not is_scoped:
        return DEFAULT_DATASET
    bare = _PARENTHETICAL.sub("", client_name.strip(), count=1).lower()
    return f"{_NOT_NAME.sub('_', bare).strip('_') or 'unknown'}_memory"
