"""From a ranking to hits: text, visibility and memories of the best, read only as far as they are needed.

A store that does not answer is named in `degraded`; nothing is shown that was not found visible.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dormouse.errors import StoreUnavailableError
from dormouse.ids import DocumentId, PassageId
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.model.recall import Hit
from dormouse.ports.bundle import Ports
from dormouse.recall.beside import beside
from dormouse.recall.course import Course
from dormouse.recall.fuse import Ranked
from dormouse.recall.graph import (
    SPARE,
    Memories,
    Visible,
    claims_beside,
    hydrate,
    memories_of,
    only_visible,
    select,
    true_at,
)
from dormouse.recall.recent import Pending


@dataclass(slots=True)
class _Read:
    """Of the ranking so far: visible passages, and memories of such as may yet turn out hidden."""

    passages: dict[PassageId, Passage] = field(default_factory=dict)
    changed_ms: dict[DocumentId, int] = field(default_factory=dict)
    memories: dict[PassageId, tuple[MemoryVersion, ...]] = field(default_factory=dict)
    remembered: set[PassageId] = field(default_factory=set)  # whose memories were asked for


class Hydration:
    """`visible` is the one place that hides what is forgotten."""

    def __init__(self, ports: Ports, visible: Visible) -> None:
        self._ports = ports
        self._visible = visible

    async def hits(self, course: Course, ranked: Sequence[Ranked], pending: Sequence[Pending]) -> Sequence[Hit]:
        """The best `top_k` of `ranked` that may be seen."""
        waiting = {each.passage.id: each.passage for each in pending}
        read = await self._read(course, ranked, waiting)
        chosen = select(ranked, read.passages, course.request.top_k)
        await self._remember(course, read, [each.passage for each in chosen], waiting)
        shown = {each.passage: read.memories.get(each.passage, ()) for each in chosen}
        memories = await self._in_time(course, {id_: versions for id_, versions in shown.items() if versions})
        return [
            Hit(
                passage=read.passages[each.passage],
                dataset_name=course.dataset_names.get(read.passages[each.passage].dataset, ""),
                score=each.score,
                memories=memories.get(each.passage, ()),
                through=_through(each, memories.get(each.passage, ())),
                is_pending=each.passage in waiting,
                remembered_ms=read.changed_ms.get(read.passages[each.passage].document),
            )
            for each in chosen
        ]

    async def _read(
        self, course: Course, ranked: Sequence[Ranked], waiting: Mapping[PassageId, Passage]
    ) -> _Read:
        """Best first and no more than needed: the rest is only read when too much turned out hidden."""
        read = _Read()
        top_k = course.request.top_k
        for start in range(0, len(ranked), top_k * SPARE):
            ids = [each.passage for each in ranked[start : start + top_k * SPARE]]
            stored = await self._hydrate(course, [id_ for id_ in ids if id_ not in waiting])
            passages = [*stored, *(waiting[id_] for id_ in ids if id_ in waiting)]
            # Hardly any is hidden, so the memories of those that would be shown are read meanwhile.
            likely = select(ranked, read.passages | {each.id: each for each in passages}, top_k)
            (seen, changed), _ = await beside(
                only_visible(self._ports.catalog, self._visible, course.scope, passages, course.request.at_ms),
                self._remember(course, read, [each.passage for each in likely], waiting),
            )
            read.passages |= seen
            read.changed_ms |= changed
            if len(select(ranked, read.passages, top_k)) >= top_k:
                break
        return read

    async def _hydrate(self, course: Course, ids: Sequence[PassageId]) -> Sequence[Passage]:
        if "graph" in course.degraded:
            return ()
        try:
            return await hydrate(self._ports.graph, course.scope, ids)
        except StoreUnavailableError as failure:
            course.lacks("graph", failure)
            return ()

    async def _remember(
        self, course: Course, read: _Read, ids: Sequence[PassageId], waiting: Mapping[PassageId, Passage]
    ) -> None:
        """Into `read`, what is remembered of those that were not asked for yet."""
        asked = [id_ for id_ in ids if id_ not in waiting and id_ not in read.remembered]
        read.remembered.update(asked)
        try:
            read.memories |= await memories_of(
                self._ports.graph, course.scope, asked, course.now_ms, course.request.at_ms
            )
        except StoreUnavailableError as failure:
            course.lacks("graph", failure)

    async def _in_time(self, course: Course, found: Memories) -> Memories:
        """With the intervals that other visible claims leave them; only those true at the asked-for time."""
        try:
            claims = await claims_beside(self._ports.graph, course.scope, found, course.now_ms)
            if not claims:
                return found
            sources = await hydrate(self._ports.graph, course.scope, list({each.passage for each in claims}))
        except StoreUnavailableError as failure:
            course.lacks("graph", failure)
            return {}
        seen, _ = await only_visible(self._ports.catalog, self._visible, course.scope, sources, None)
        visible = [each for each in claims if each.passage in seen]
        return true_at(found, visible, course.request.at_ms)


def _through(ranked: Ranked, memories: Sequence[MemoryVersion]) -> tuple[MemoryVersion, ...]:
    """The memories worded by the derived passages it was found by; those not believed any more say nothing."""
    believed = {str(memory.memory): memory for memory in memories}
    return tuple(believed[each] for each in ranked.through if each in believed)
