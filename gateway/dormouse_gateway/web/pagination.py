"""Cursors: where the next page begins, opaque to the caller, true after insertions and deletions."""

import base64
import json
from collections.abc import Sequence

from starlette.datastructures import QueryParams

from dormouse.errors import InvalidInputError
from dormouse_gateway.web.operation import Parameter

NEXT_HEADER = "X-Next-Cursor"  # for bodies that a contract fixes as a plain array
CURSOR = Parameter("cursor", "Where the page begins: what the page before answered with.")
NEXT_CURSOR = Parameter(NEXT_HEADER, "The `cursor` of the next page; missing on the last.", place="header")


def limit_parameter(*, default: int, most: int) -> Parameter:
    schema = {"type": "integer", "minimum": 1, "maximum": most, "default": default}
    return Parameter("limit", "How many at most.", schema)


def cursor_of(position: Sequence[str | int]) -> str:
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def position_of(query: QueryParams, shape: tuple[type, ...]) -> list[str | int] | None:
    """The position in `cursor`, whose items must have these types; None without one."""
    cursor = query.get("cursor")
    if cursor is None:
        return None
    try:
        position = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError) as exc:
        raise _not_ours() from exc
    if not isinstance(position, list) or tuple(map(type, position)) != shape:
        raise _not_ours()
    return position


def limit_of(query: QueryParams, *, default: int, most: int) -> int:
    text = query.get("limit", str(default))
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= most):
        raise InvalidInputError(f"limit must be a number from 1 to {most}", field="limit")
    return int(text)


def refuse_unknown(query: QueryParams, known: frozenset[str], repeatable: frozenset[str]) -> None:
    """Raises `InvalidInputError`, also for one given twice that is not `repeatable`: either could be meant."""
    for name in query:
        if name not in known:
            raise InvalidInputError(f"unknown query parameter '{name[:60]}'", field=name[:60])
        if name not in repeatable and len(query.getlist(name)) > 1:
            raise InvalidInputError(f"{name} must be given once", field=name)


def _not_ours() -> InvalidInputError:
    return InvalidInputError("cursor must be one that this list answered with", field="cursor")
