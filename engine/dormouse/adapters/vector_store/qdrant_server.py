"""The vectors in a collection of a Qdrant server, which may serve other processes at the same time.

A write is conditional where another process could have been first: the server compares change numbers, point
by point. What an upsert answered is in the server's write-ahead log, and is found by the next call. Erased
points are in no answer and in no snapshot; the server's own files lose them when it rewrites a segment, as it
is told to do after deletions (`docs/operations.md` says what that leaves). Sources: retrieval, "Indexed
units"; writes §3 and §5.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from qdrant_client import models

from dormouse.adapters.vector_store import points as points_of
from dormouse.adapters.vector_store.admission import assert_writable, made_by_another, plain_name
from dormouse.adapters.vector_store.qdrant_calls import QdrantCalls, assert_written, translated
from dormouse.adapters.vector_store.qdrant_layout import completed, made, recorded
from dormouse.adapters.vector_store.qdrant_messages import (
    among,
    any_of,
    filter_of,
    not_newer_than,
    point_of,
    row_of,
    weights,
)
from dormouse.adapters.vector_store.qdrant_search import found, nominated
from dormouse.adapters.vector_store.rows import DENSE, TERMS, WINDOW
from dormouse.errors import MisconfiguredError, StoreUnavailableError
from dormouse.ids import DatasetId, DocumentId, PassageId, TermId, WorkspaceId
from dormouse.model.change import Erasure
from dormouse.model.passage import Nominee, Point
from dormouse.model.scope import Fence, Scope
from dormouse.model.workspace import Collection as VectorCollection
from dormouse.ports.catalog.terms import TermCounts
from dormouse.ports.vector_store import DenseArm, Nomination, PointFilter, TermArm, VectorFootprint
from dormouse.ports.vector_upkeep import PointMark

TALLIED_AT_ONCE = 500  # points a call
READ_AT_ONCE = 200  # whole ones, of four to eight kilobytes
_LOST = "the collection of the vectors is not on the server: `dormouse rebuild` makes it anew"
_MARKS = ["dataset", "dataset_id", "document", "document_id", "generation", "first", "last"]


class QdrantServerVectorStore:
    """`open` comes before anything else. It answers as `VectorStore` and as `VectorUpkeep`.

    Whoever made `calls` closes them.
    """

    def __init__(self, calls: QdrantCalls, workspace: WorkspaceId) -> None:
        self._calls = calls
        self._workspace = workspace
        self._name = ""
        self._dimension = 0

    async def open(self, collection: VectorCollection, *, must_exist: bool = False) -> None:
        await self.close()
        name = f"{prefix_of(self._workspace)}{plain_name(collection.name)}"
        info = await self._calls.collection(name)
        if info is None and not must_exist:
            await made(self._calls, name, collection)
            info = await self._calls.collection(name)
        filled_by = recorded(info)
        if info is None or filled_by is None:
            raise MisconfiguredError(_LOST)
        if filled_by != (collection.model, collection.dimension):
            raise made_by_another(*filled_by, collection)
        await completed(self._calls, name, info)
        self._name, self._dimension = name, collection.dimension

    @property
    def name(self) -> str:
        """What the server knows the collection by; of one that is open."""
        if not self._name:
            raise StoreUnavailableError(port="vector")
        return self._name

    def go_by(self, name: str) -> None:
        """Ask for it by another name of the same."""
        self._name = name

    async def upsert(self, scope: Scope, fence: Fence, points: Sequence[Point]) -> None:
        assert_writable(scope, fence, {point.dataset for point in points})
        rows = {point.passage: points_of.row_of(point, fence.seq, self._dimension) for point in points}
        if rows:
            with translated():
                made_of = list(map(point_of, rows.values()))
            await self._calls.upsert(self.name, made_of, not_newer_than(fence.seq))

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
        await self._delete(any_of(wanted))
        if is_forgetting:  # after the points: a snapshot taken in between holds them too
            await self._calls.forget_snapshots(self.name)

    async def search(
        self, scope: Scope, arms: Sequence[DenseArm | TermArm], where: PointFilter
    ) -> Sequence[Sequence[Nominee]]:
        asked = [points_of.arm_of(arm, self._dimension) for arm in arms]
        if not scope.readable or not asked:
            return [[] for _ in arms]
        answers = await found(self._calls, self.name, asked, points_of.where_readable(scope, where))
        return [[Nominee(PassageId(hit.id.uuid), hit.score) for hit in hits] for hits in answers]

    async def nominate(
        self, scope: Scope, arms: Sequence[DenseArm | TermArm], where: PointFilter
    ) -> Nomination:
        asked = [points_of.arm_of(arm, self._dimension) for arm in arms]
        if not scope.readable or not asked:
            return Nomination.nothing(len(arms))
        chosen, readable = points_of.where_readable(scope, where), points_of.where_readable(scope)
        return points_of.nomination_of(await nominated(self._calls, self.name, asked, chosen, readable))

    async def count(self, scope: Scope, what: Erasure | None = None) -> int:
        if not scope.readable:
            return 0
        erased = points_of.where_erased(what) if what is not None else []
        chosen = filter_of([*points_of.where_kept(scope), *erased])
        name = self.name
        with translated():
            return (await self._calls.client.count(name, chosen, exact=True)).count

    async def points(self, scope: Scope, ids: Collection[PassageId]) -> Sequence[Point]:
        if not scope.readable or not ids:
            return []
        wanted, datasets = sorted(ids), points_of.datasets_by_key(scope)
        found: list[Point] = []
        for start in range(0, len(wanted), READ_AT_ONCE):
            some = wanted[start : start + READ_AT_ONCE]
            chosen = among(some, points_of.where_kept(scope))
            records, _ = await self._page(chosen, len(some), vectors=[DENSE, TERMS, WINDOW])
            found += [points_of.point_of(row_of(record), datasets) for record in records]
        return found

    async def marks_after(
        self, scope: Scope, after: PassageId | None, limit: int, *, document: DocumentId | None = None
    ) -> Sequence[PointMark]:
        if not scope.readable:
            return []
        chosen = filter_of(points_of.where_kept(scope, document))
        # The page begins with `after` itself, if that is still there.
        records, _ = await self._page(chosen, limit + 1, after=after, payload=_MARKS)
        datasets = points_of.datasets_by_key(scope)
        behind = [(str(record.id), record.payload or {}) for record in records if record.id != after]
        return [points_of.mark_of(id_, payload, datasets) for id_, payload in behind[:limit]]

    async def hide(self, scope: Scope, fence: Fence, what: Erasure, *, is_hidden: bool) -> None:
        assert_writable(scope, fence, {what.dataset})
        wanted, dataset = points_of.where_to_hide(what, is_hidden=is_hidden)
        name = self.name
        with translated():
            moved = await self._calls.client.set_payload(name, {"dataset": dataset}, filter_of(wanted))
        assert_written(moved)

    async def drop(self, scope: Scope, fence: Fence, ids: Collection[PassageId]) -> None:
        assert_writable(scope, fence, scope.readable)
        if ids:
            await self._delete(among(sorted(ids), points_of.where_kept(scope)))
            await self._calls.forget_snapshots(self.name)

    async def optimise(self) -> VectorFootprint:
        """The server does it by itself, and does not tell what lies on its disk."""
        name = self.name
        with translated():
            return VectorFootprint((await self._calls.client.count(name, exact=True)).count, 0, 0)

    async def tally(self, scope: Scope) -> Mapping[tuple[DatasetId, int], TermCounts]:
        """Of every readable point that is not hidden: how many there are, and how many hold each term.

        What a model derived is not counted: statistics are of what was said.
        """
        if not scope.readable:
            return {}
        counted: Counter[tuple[DatasetId, int]] = Counter()
        terms: dict[tuple[DatasetId, int], Counter[TermId]] = defaultdict(Counter)
        datasets, chosen = points_of.datasets_by_key(scope), filter_of(points_of.where_said(scope))
        after: str | None = None
        while True:
            records, after = await self._page(
                chosen, TALLIED_AT_ONCE, after=after, payload=["dataset", "generation"], vectors=[TERMS]
            )
            for record in records:
                payload = record.payload or {}
                key = datasets[payload["dataset"]], int(payload["generation"])
                counted[key] += 1
                terms[key].update(_terms_of(record))
            if after is None:
                return {key: TermCounts(count, terms[key]) for key, count in counted.items()}

    async def close(self) -> None:
        self._name = ""

    async def _delete(self, chosen: models.Filter) -> None:
        name = self.name
        with translated():
            assert_written(await self._calls.client.delete(name, chosen))

    async def _page(
        self,
        chosen: models.Filter,
        limit: int,
        *,
        after: str | None = None,
        payload: list[str] | bool = True,
        vectors: list[str] | bool = False,
    ) -> tuple[Sequence[models.Record], str | None]:
        name = self.name
        with translated():
            records, following = await self._calls.client.scroll(
                name, chosen, limit, offset=after, with_payload=payload, with_vectors=vectors
            )
        return records, None if following is None else str(following)


def prefix_of(workspace: WorkspaceId) -> str:
    """Of the names of its collections; none of another workspace begins so."""
    return f"dormouse.{plain_name(workspace)}."


def _terms_of(record: models.Record) -> list[TermId]:
    held = record.vector.get(TERMS) if isinstance(record.vector, dict) else None
    return [TermId(index) for index in weights(held)[0]] if isinstance(held, models.SparseVector) else []
