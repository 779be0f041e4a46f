"""The vectors in a Qdrant shard on this machine, held by a process of its own (`edge_main` says why).

One folder per collection: the shard, the record of what model filled it, and a lock. What `upsert`
acknowledged survives SIGKILL and power cuts; what `erase` removed is in no file when it returns.
Sources: retrieval, "Indexed units"; writes §3 and §5.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from dormouse.adapters.vector_store import points as points_of
from dormouse.adapters.vector_store.admission import assert_writable, made_by_another, plain_name
from dormouse.adapters.vector_store.edge_process import DamagedFilesError, EdgeProcess
from dormouse.errors import MisconfiguredError, StoreUnavailableError
from dormouse.ids import DatasetId, DocumentId, PassageId, TermId
from dormouse.model.change import Erasure
from dormouse.model.passage import Nominee, Point
from dormouse.model.scope import Fence, Scope
from dormouse.model.workspace import Collection as VectorCollection
from dormouse.ports.catalog.terms import TermCounts
from dormouse.ports.vector_store import DenseArm, Nomination, PointFilter, TermArm, VectorFootprint
from dormouse.ports.vector_upkeep import PointMark

_DAMAGE = "the files of the vectors are damaged or missing: `dormouse rebuild` makes them anew"
TALLIED_AT_ONCE = 500  # points a call


class QdrantEdgeVectorStore:
    """`folder` holds one folder per collection; `open` one before anything else.

    It answers as `VectorStore` and as `VectorUpkeep`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: EdgeProcess | None = None
        self._dimension = 0

    async def open(self, collection: VectorCollection, *, must_exist: bool = False) -> None:
        await self.close()
        self._process = process = EdgeProcess(self._folder / plain_name(collection.name))
        self._dimension = collection.dimension
        try:
            model, dimension = await process.open(collection.model, collection.dimension, must_exist)
        except DamagedFilesError as exc:
            await self.close()
            raise MisconfiguredError(_DAMAGE) from exc
        if (model, dimension) != (collection.model, collection.dimension):
            await self.close()
            raise made_by_another(model, dimension, collection)

    async def upsert(self, scope: Scope, fence: Fence, points: Sequence[Point]) -> None:
        assert_writable(scope, fence, {point.dataset for point in points})
        # All of them before any: the engine keeps the points in front of the one that it refuses.
        rows = {point.passage: points_of.row_of(point, fence.seq, self._dimension) for point in points}
        if rows:
            await self._opened.call("upsert", list(rows.values()), fence.seq)

    async def erase(
        self,
        scope: Scope,
        fence: Fence,
        what: Erasure,
        *,
        also: Sequence[Erasure] = (),
        is_forgetting: bool = True,
    ) -> None:
        assert_writable(scope, fence, {what.dataset, *(each.dataset for each in also)})
        wanted = [points_of.where_erased(what, fence.seq), *map(points_of.where_erased, also)]
        await self._opened.call("erase", wanted, is_forgetting)
        await self._opened.call("note", fence.seq)

    async def search(
        self, scope: Scope, arms: Sequence[DenseArm | TermArm], where: PointFilter
    ) -> Sequence[Sequence[Nominee]]:
        asked = [points_of.arm_of(arm, self._dimension) for arm in arms]
        if not scope.readable or not asked:
            return [[] for _ in arms]
        found = await self._opened.call("search", asked, points_of.where_readable(scope, where))
        return [[Nominee(PassageId(id_), score) for id_, score in hits] for hits in found]

    async def nominate(
        self, scope: Scope, arms: Sequence[DenseArm | TermArm], where: PointFilter
    ) -> Nomination:
        asked = [points_of.arm_of(arm, self._dimension) for arm in arms]
        if not scope.readable or not asked:
            return Nomination.nothing(len(arms))
        where_asked, readable = points_of.where_readable(scope, where), points_of.readable_by(scope)
        return points_of.nomination_of(await self._opened.call("nominate", asked, where_asked, readable))

    async def count(self, scope: Scope, what: Erasure | None = None) -> int:
        if not scope.readable:
            return 0
        erased = points_of.where_erased(what) if what is not None else []
        counted: int = await self._opened.call("count", [*points_of.where_kept(scope), *erased])
        return counted

    async def points(self, scope: Scope, ids: Collection[PassageId]) -> Sequence[Point]:
        if not scope.readable or not ids:
            return []
        rows = await self._opened.call("rows", sorted(ids), points_of.where_kept(scope))
        datasets = points_of.datasets_by_key(scope)
        return [points_of.point_of(row, datasets) for row in rows]

    async def marks_after(
        self, scope: Scope, after: PassageId | None, limit: int, *, document: DocumentId | None = None
    ) -> Sequence[PointMark]:
        if not scope.readable:
            return []
        found = await self._opened.call("page", points_of.where_kept(scope, document), after, limit)
        datasets = points_of.datasets_by_key(scope)
        return [points_of.mark_of(id_, payload, datasets) for id_, payload in found]

    async def hide(self, scope: Scope, fence: Fence, what: Erasure, *, is_hidden: bool) -> None:
        assert_writable(scope, fence, {what.dataset})
        wanted, dataset = points_of.where_to_hide(what, is_hidden=is_hidden)
        await self._opened.call("move", wanted, dataset)
        await self._opened.call("note", fence.seq)

    async def drop(self, scope: Scope, fence: Fence, ids: Collection[PassageId]) -> None:
        assert_writable(scope, fence, scope.readable)
        if ids:
            await self._opened.call("drop", sorted(ids), points_of.where_kept(scope))

    async def optimise(self) -> VectorFootprint:
        return VectorFootprint(*await self._opened.call("optimise"))

    async def tally(self, scope: Scope) -> Mapping[tuple[DatasetId, int], TermCounts]:
        """Of every readable point that is not hidden: how many there are, and how many hold each term.

        What a model derived is not counted: statistics are of what was said.
        """
        if not scope.readable:
            return {}
        counted: Counter[tuple[DatasetId, int]] = Counter()
        terms: dict[tuple[DatasetId, int], Counter[TermId]] = defaultdict(Counter)
        datasets, where = points_of.datasets_by_key(scope), points_of.where_said(scope)
        after: str | None = None
        while True:
            after, found = await self._opened.call("terms_after", where, after, TALLIED_AT_ONCE)
            for key, generation, held in found:
                counted[datasets[key], generation] += 1
                terms[datasets[key], generation].update(held)
            if after is None:
                return {key: TermCounts(count, terms[key]) for key, count in counted.items()}

    async def reached(self) -> int:
        """The last change that is in here with all before it."""
        return int(await self._opened.call("reached"))

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.close()

    @property
    def _opened(self) -> EdgeProcess:
        if self._process is None:
            raise StoreUnavailableError(port="vector")
        return self._process
