"""What the suite of the vectors' collections is told of where they are kept."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from dormouse.adapters.vector_store.active_and_building import ActiveAndBuilding

AnyCollections = ActiveAndBuilding[Any]


@dataclass(frozen=True, slots=True)
class KeptCollections:
    """`names` are of all that is kept of this workspace; `leave_behind` makes one that nobody asked for."""

    names: Callable[[], Awaitable[list[str]]]
    leave_behind: Callable[[str], Awaitable[None]]
