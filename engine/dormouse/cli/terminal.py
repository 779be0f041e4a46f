"""What people see: results on stdout, everything else on stderr, and no control codes outside a terminal."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import typer

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

_PLAIN_INTERVAL_S = 2.0


class Progress(Protocol):
    def advance(self, name: str) -> None:
        """One more is done."""
        ...

    def reach(self, done: int, total: int, name: str) -> None:
        """So many are done; the total may turn out to be another."""
        ...

    def tell(self, text: str) -> None:
        """How far one that is not done yet has come."""
        ...


def say(text: str = "") -> None:
    typer.echo(printable(text))


def note(text: str) -> None:
    typer.echo(printable(text), err=True)


def printable(text: str) -> str:
    """Names and memories come from elsewhere: no control codes reach the terminal, no surrogate breaks it."""
    safe = "".join(
        sign if sign.isprintable() or sign in "\n\t" else "\N{REPLACEMENT CHARACTER}" for sign in text
    )
    encoding = sys.stdout.encoding or "utf-8"
    return safe.encode(encoding, "replace").decode(encoding)


def amount(count: int, thing: str) -> str:
    """`1 document`, `2 documents`."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


@contextmanager
def progress(total: int) -> Iterator[Progress]:
    """A bar on a terminal; elsewhere a line now and then, and always the last."""
    if not sys.stderr.isatty():
        yield _Lines(total)
        return
    from rich.console import Console  # noqa: PLC0415 - a third of a second that only a terminal needs
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - same
    from rich.progress import Progress as Bar  # noqa: PLC0415 - same

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Bar(bar, total)


class _Bar:
    def __init__(self, bar: "RichProgress", total: int) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=total)

    def advance(self, name: str) -> None:
        self._bar.update(self._task, advance=1, description=printable(name))

    def reach(self, done: int, total: int, name: str) -> None:
        self._bar.update(self._task, completed=done, total=total, description=printable(name))

    def tell(self, text: str) -> None:
        self._bar.update(self._task, description=printable(text))


class _Lines:
    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._said = time.monotonic()

    def advance(self, name: str) -> None:
        self.reach(self._done + 1, self._total, name)

    def reach(self, done: int, total: int, name: str) -> None:
        is_new = (done, total) != (self._done, self._total)
        self._done, self._total = done, total
        if is_new and (done == total or self._is_time):
            self._say(name)

    def tell(self, text: str) -> None:
        if self._is_time:
            self._say(text)

    @property
    def _is_time(self) -> bool:
        return time.monotonic() - self._said >= _PLAIN_INTERVAL_S

    def _say(self, text: str) -> None:
        note(f"{self._done}/{self._total} {text}")
        self._said = time.monotonic()
