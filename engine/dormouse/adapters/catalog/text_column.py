"""Text that means the same in both databases: any character, in the order of code points.

PostgreSQL orders by the database's language unless told otherwise, and stores no NUL, which divides the parts
of an identity and may stand in what users say. There two characters are written in two, so that everything
can be told apart and nothing changes its place in the order:

    U+0000 as U+0001 U+0001
    U+0001 as U+0001 U+0002
"""

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

ORDERED = sa.Text(collation="C")
# What a migration makes.
TEXT = sa.Text().with_variant(ORDERED, "postgresql")


def escaped(text: str) -> str:
    if "\x01" in text:
        text = text.replace("\x01", "\x01\x02")
    return text.replace("\x00", "\x01\x01") if "\x00" in text else text


def unescaped(text: str) -> str:
    if "\x01" not in text:
        return text
    return text.replace("\x01\x01", "\x00").replace("\x01\x02", "\x01")


class AnyText(TypeDecorator[str]):
    """Costs SQLite nothing: there it is the database's own type."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(ORDERED if dialect.name == "postgresql" else sa.Text())

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        return _when_there(escaped) if dialect.name == "postgresql" else None

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:  # noqa: ARG002
        return _when_there(unescaped) if dialect.name == "postgresql" else None


def _when_there(change: Callable[[str], str]) -> Callable[[Any], Any]:
    return lambda value: value if value is None else change(value)
