"""Whether two exports tell the same memory, and where they do not. Pure.

*Equal* means ids, texts, intervals, quotes, links, entities and term counts exactly, and vectors to 1e-4. With
`SAME_MEMORY` (a rebuild, a restore) transaction times and versions believed no longer count too; with
`ANOTHER_RUN` (the same things remembered again elsewhere) neither does, nor by which revision a passage came.
When the catalog wrote its rows never counts. Source: writes §7.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from dormouse.model.export import ExportRow, RowKind

NEARNESS = 1e-4
MOST = 100  # differences worth naming

_CATALOG_TIMES = frozenset({"created_ms", "updated_ms"})
_OF_ONE_RUN = frozenset({"transaction", "first_revision", "last_revision", "revision"})


class Likeness(StrEnum):
    SAME_MEMORY = "same_memory"
    ANOTHER_RUN = "another_run"


@dataclass(frozen=True, slots=True)
class Difference:
    """`field` is empty when the whole row is on one side only; `side` says which, "both" when it differs."""

    kind: RowKind
    id: str
    side: str
    field: str = ""


def differences(
    left: Iterable[ExportRow], right: Iterable[ExportRow], likeness: Likeness = Likeness.SAME_MEMORY
) -> list[Difference]:
    """In the rows' order, up to `MOST`; empty for equal exports."""
    found: list[Difference] = []
    for one, other in _paired(_counting(left, likeness), _counting(right, likeness)):
        if one is None or other is None:
            row, side = (one, "left") if one else (other, "right")
            assert row is not None
            found.append(Difference(row.kind, _name(row), side))
        else:
            fields = _unlike(one.body, other.body)
            found += [Difference(one.kind, _name(one), "both", field) for field in fields]
        if len(found) >= MOST:
            return found[:MOST]
    return found


class ContentHash:
    """Over rows in their order. Equal exports of the same stores hash alike; to find a difference, compare."""

    def __init__(self, likeness: Likeness = Likeness.SAME_MEMORY) -> None:
        self._likeness = likeness
        self._hash = hashlib.sha256()

    def add(self, row: ExportRow) -> None:
        for each in _counting([row], self._likeness):
            line = json.dumps([each.kind.value, each.key, each.body], sort_keys=True, separators=(",", ":"))
            self._hash.update(line.encode("ascii") + b"\n")

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def content_hash(rows: Iterable[ExportRow], likeness: Likeness = Likeness.SAME_MEMORY) -> str:
    whole = ContentHash(likeness)
    for row in rows:
        whole.add(row)
    return whole.hexdigest()


def _counting(rows: Iterable[ExportRow], likeness: Likeness) -> Iterator[ExportRow]:
    """The rows that count, with the fields that count."""
    for row in rows:
        if likeness is Likeness.SAME_MEMORY:
            yield replace(row, body=_without(row.body, _CATALOG_TIMES))
        elif row.kind is not RowKind.MEMORY:
            yield replace(row, body=_without(row.body, _CATALOG_TIMES | _OF_ONE_RUN))
        elif _is_believed(row):
            # One of each memory is believed, and its own id tells by which revision it came.
            key = row.key._replace(id=str(row.body["memory"]))
            yield ExportRow(row.kind, key, _without(row.body, _OF_ONE_RUN | {"id"}))


def _is_believed(row: ExportRow) -> bool:
    transaction = row.body["transaction"]
    assert isinstance(transaction, list)
    return transaction[1] is None


def _without(body: Mapping[str, object], fields: Collection[str]) -> dict[str, object]:
    return {name: value for name, value in body.items() if name not in fields}


def _paired(
    left: Iterator[ExportRow], right: Iterator[ExportRow]
) -> Iterator[tuple[ExportRow | None, ExportRow | None]]:
    """Rows of the same key together; both sides are in the order of the keys."""
    one, other = next(left, None), next(right, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one.key < other.key):
            yield one, None
            one = next(left, None)
        elif one is None or other.key < one.key:
            yield None, other
            other = next(right, None)
        else:
            yield one, other
            one, other = next(left, None), next(right, None)


def _unlike(left: Mapping[str, object], right: Mapping[str, object]) -> list[str]:
    names = sorted(left.keys() | right.keys())
    return [name for name in names if not _is_like(left.get(name), right.get(name))]


def _is_like(left: object, right: object) -> bool:
    if isinstance(left, float) or isinstance(right, float):
        numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
        return numbers and abs(left - right) <= NEARNESS  # type: ignore[operator]  # checked a line above
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_is_like(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_is_like, left, right))
    return left == right


def _name(row: ExportRow) -> str:
    """What a reader can look for."""
    if row.kind is RowKind.MENTION:
        return f"{row.body['entity']} {row.body['passage']}"
    if row.kind is RowKind.RELATION:
        return f"{row.body['source']} {row.body['name']} {row.body['target']} {row.body['passage']}"
    names = (row.body.get(field) for field in ("id", "memory", "term"))
    return str(next((each for each in names if each is not None), row.key.dataset))
