"""JSON that means one thing: an object that has a key twice is refused, by the key.

What such an object means is up to each reader: one takes the first value, another the last, and what was
checked is not what is done. Source: RFC 8259 §4, RFC 7493 §2.3.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

SHOWN_CHARACTERS = 64


class RepeatedKeyError(ValueError):
    """`key` as it may be shown. It is a `ValueError` as everything is that no JSON reader takes."""

    def __init__(self, key: str) -> None:
        self.key = key[:SHOWN_CHARACTERS].encode("utf-8", "replace").decode()
        super().__init__(f"the key '{self.key}' is there twice")


def loads(text: str | bytes) -> Any:  # noqa: ANN401 - JSON
    """Raises `RepeatedKeyError`, and else as `json.loads` does."""
    return json.loads(text, object_pairs_hook=_object)


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counted = Counter(key for key, _ in pairs)
        raise RepeatedKeyError(next(key for key, count in counted.items() if count > 1))
    return found
