"""Ports that kill their own process: SIGKILL before or after the nth call of a named method.

The real program is composed of the real adapters; each is only seen through a proxy that counts the calls of
one method. Nothing is caught, flushed or closed on the way out.
"""

import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from dormouse.adapters.embedder.choice import EmbedderChoice
from dormouse.ports.bundle import Ports
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.embedder import Embedder

VARIABLE = "DORMOUSE_TEST_KILL"

STEPS = (
    "catalog.commit",
    "blobs.put",
    "bus.ring_ingest",
    "embedder.embed_passages",
    "extractor.extract",
    "bus.ring_apply",
    "vectors.upsert",
    "vector_upkeep.hide",
    "graph.write",
    "graph.erase",
    "vectors.erase",
    "blobs.erase_job",
    "catalog.scrub",
)


@dataclass(frozen=True, slots=True)
class KillPoint:
    """`step` is port.method; `nth` counts its calls from 1 over the life of the process."""

    step: str
    when: Literal["before", "after"]
    nth: int

    def __str__(self) -> str:
        return f"{self.step}:{self.when}:{self.nth}"

    @classmethod
    def parse(cls, text: str) -> "KillPoint":
        step, when, nth = text.split(":")
        return cls(step, "before" if when == "before" else "after", int(nth))


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Countdown:
    """Wraps one method; the nth call does not survive."""

    def __init__(self, point: KillPoint) -> None:
        self._point, self._calls = point, 0

    def wrap(self, method: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def counted(*args: object, **kwargs: object) -> object:
            self._calls += 1
            is_last = self._calls == self._point.nth
            if is_last and self._point.when == "before":
                die()
            result = await method(*args, **kwargs)
            if is_last:
                die()
            return result

        return counted


class Watched:
    """A port seen through one countdown."""

    def __init__(self, port: object, method: str, countdown: Countdown) -> None:
        self._port, self._method, self._countdown = port, method, countdown

    def __getattr__(self, name: str) -> object:
        found = getattr(self._port, name)
        return self._countdown.wrap(found) if name == self._method else found


class WatchedCatalog(Watched):
    """Commits happen on transactions, so those are watched too."""

    def __init__(self, catalog: Catalog, method: str, countdown: Countdown) -> None:
        super().__init__(catalog, method, countdown)
        self._catalog = catalog

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[object]:
        async with self._catalog.transaction() as tx:
            yield self._watched(tx)

    async def write(self, work: Callable[[Any], Awaitable[object]]) -> object:
        return await self._catalog.write(lambda tx: work(self._watched(tx)))

    def _watched(self, tx: object) -> object:
        return Watched(tx, self._method, self._countdown) if self._method == "commit" else tx


def armed(ports: Ports, point: KillPoint) -> Ports:
    """The same ports, one of them deadly."""
    name, method = point.step.split(".")
    countdown = Countdown(point)
    if name == "embedder":
        deadly = cast("Embedder", Watched(ports.embedder, method, countdown))
        return replace(ports, embedders=EmbedderChoice([deadly]))
    watched = (
        WatchedCatalog(ports.catalog, method, countdown)
        if name == "catalog"
        else Watched(getattr(ports, name), method, countdown)
    )
    return replace(ports, **cast("dict[str, Any]", {name: watched}))
