"""Items out of what a model said, however damaged: whole, fenced, cut off, with prose around them. Pure.

One broken item never costs the others: each is decoded by itself wherever the whole cannot be.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAX_ITEMS = 400  # of one reply; beyond it is noise

_FENCE = re.compile(r"```(?:json)?\s*(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


@dataclass(frozen=True, slots=True)
class Salvaged:
    """`items` and `entities` are objects as they came; `broken` counts pieces that could not be read."""

    items: tuple[dict[str, Any], ...] = ()
    entities: tuple[dict[str, Any], ...] = ()
    broken: int = 0


def salvage(reply: str) -> Salvaged:
    """What a reply of the form `{"items": [...], "entities": [...]}` still holds."""
    text = _unwrapped(reply)
    whole = _decoded(text)
    if isinstance(whole, dict):
        return _of_lists(whole.get("items"), whole.get("entities"))
    if isinstance(whole, list):
        return _of_lists(whole, None)
    return _piecewise(text)


def _unwrapped(reply: str) -> str:
    """Without a fence, and without what a model says before or after the JSON."""
    fenced = _FENCE.search(reply)
    text = fenced[1] if fenced else reply
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=0)
    return text[start:].strip()


def _decoded(text: str) -> object:
    for candidate in (text, _TRAILING_COMMA.sub(r"\1", text)):
        try:
            return json.JSONDecoder(strict=False).raw_decode(candidate)[0]
        except (ValueError, RecursionError):
            continue
    return None


def _of_lists(items: object, entities: object) -> Salvaged:
    kept, broken = _objects(items)
    named, unnamed = _objects(entities)
    return Salvaged(kept, named, broken + unnamed)


def _objects(value: object) -> tuple[tuple[dict[str, Any], ...], int]:
    if not isinstance(value, list):
        return (), 0 if value is None else 1
    objects = tuple(each for each in value[:MAX_ITEMS] if isinstance(each, dict))
    return objects, len(value) - len(objects)


def _piecewise(text: str) -> Salvaged:
    """Every innermost object by itself; what has a name and no content is an entity."""
    items: list[dict[str, Any]] = []
    entities: list[dict[str, Any]] = []
    broken = 0
    for piece in _flat_objects(text):
        found = _decoded(piece)
        if not isinstance(found, dict):
            broken += 1
        elif "content" in found:
            items.append(found)
        elif "name" in found:
            entities.append(found)
        if len(items) + len(entities) + broken >= MAX_ITEMS:
            break
    return Salvaged(tuple(items), tuple(entities), broken)


def _flat_objects(text: str) -> Iterator[str]:
    """From each opening brace to the one that closes it, unless another opens first; the last may be cut."""
    start = -1
    is_quoted = is_escaped = False
    for at, letter in enumerate(text):
        if is_quoted:
            is_quoted = is_escaped or letter != '"'
            is_escaped = letter == "\\" and not is_escaped
        elif letter == '"':
            is_quoted = True
        elif letter == "{":
            start = at
        elif letter == "}" and start >= 0:
            yield text[start : at + 1]
            start = -1
    if start >= 0 and ":" in text[start:]:
        yield text[start:]
