"""One Qdrant shard in a folder: settings, filters, writes that are on disk when they return, and erasing.

Runs in the process of `edge_main`; blocking, and one call at a time. Speaks plain values only, so that every
call can cross a pipe: a filter is a list of conditions (`Where`), a point a tuple (`Row`).

- The engine's write-ahead log is off, because it keeps what was erased; a journal of ours (`edge_journal`)
  holds what the engine has not flushed yet, so a write that was answered survives SIGKILL and power cuts.
- No graph over the dense vectors (`m` 0): every dense search is exact inside its filter, so points that may
  not be read cannot steer it. No IDF in the engine either: it counts unreadable and deleted points.
- Deleted points stay in their segment's files until it is rewritten, so an erase has every segment with a
  deletion rewritten before it returns. Segments are kept small, so that this takes about a second at any
  size of the collection.
"""

import math
import shutil
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import qdrant_edge as edge

from dormouse.adapters.vector_store.edge_calls import DamagedVectorsError, Footprint
from dormouse.adapters.vector_store.edge_journal import Journal, ReachedSeq
from dormouse.adapters.vector_store.edge_known import (
    KNOWN_FIELDS,
    NONE_BEFORE,
    KnownPoint,
    KnownPoints,
    decoded,
    number_of,
    text_of,
)
from dormouse.adapters.vector_store.edge_record import sync_folder
from dormouse.adapters.vector_store.edge_scores import named
from dormouse.adapters.vector_store.rows import DENSE, DERIVED, TERMS, TURN, WINDOW, Arm, Named, Row, Where
from dormouse.adapters.vector_store.ties import TIE_GROWTH, first_asked, is_cut_in_a_tie

MAX_SEGMENT_KB = 4000  # of dense vectors: about 5,000 points, a second to rewrite
INDEXING_THRESHOLD_KB = 100  # from about 130 points on a segment is packed
OPTIMISE_EVERY = 2000  # points written; keeps the growing segment, the journal and so an erase small
UNBOUNDED = 2**31
UNCLEAN_NAME = "unclean"  # there while files may hold what was erased
JOURNAL_NAME = "journal"
REACHED_NAME = "reached"  # all of them beside the shard's folder, which is the engine's own
MARKS = ("dataset", "dataset_id", "document", "document_id", "generation", "first", "last")
_INDEXES: dict[str, Any] = {
    # UUIDs compare as numbers: at 100,000 points a filter on a keyword costs three times as much.
    "dataset": edge.UuidIndexParams(is_tenant=True),
    "document": edge.UuidIndexParams(),
    "session": edge.KeywordIndexParams(),
    "occurred": edge.IntegerIndexParams(lookup=False, range=True),
}  # no more than searches need: each costs every write several fsyncs; erasures look into payloads


class Shard:
    def __init__(self, folder: Path, dimension: int, *, must_exist: bool = False) -> None:
        """Open the shard, or make it, and catch up with the journal. Half-built segments are removed.

        Raises `DamagedVectorsError` when it is not there although it must be.
        """
        self._folder = folder
        self._unpacked = 0
        self._known = KnownPoints(self._read)
        self._next: Any = None  # the first id that is not yet learned
        self._is_learned = False
        shutil.rmtree(folder / "temp_segments", ignore_errors=True)
        if (folder / "edge_config.json").exists():
            self._shard = edge.EdgeShard.load(str(folder), settings_of(dimension))
        elif must_exist:
            raise DamagedVectorsError
        else:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700, parents=True)
            self._shard = edge.EdgeShard.create(str(folder), settings_of(dimension))
        known = self._shard.info().payload_schema
        for field, schema in _INDEXES.items():
            if field not in known:
                self._shard.update(edge.UpdateOperation.create_field_index(field, schema))
        hits = self._shard.facet(edge.FacetRequest(key="dataset", limit=UNBOUNDED, exact=True)).hits
        self._datasets = {str(hit.value) for hit in hits}
        self._journal = Journal(folder.parent / JOURNAL_NAME)
        self._reached = ReachedSeq(folder.parent / REACHED_NAME)
        for rows, seq in self._journal.records():
            self._put(rows, seq)
            self._reached.note(seq)
        self._flush()
        self._unclean = folder.parent / UNCLEAN_NAME
        if self._unclean.exists():
            self._clean()

    def upsert(self, rows: Sequence[Row], seq: int) -> None:
        """Points that a higher change wrote stay as they are."""
        self._put(
            rows, seq
        )  # first: what the engine refuses must not come back from the journal at every start
        self._journal.append(rows, seq)
        self._reached.note(seq)
        if self._unpacked >= OPTIMISE_EVERY:
            self._pack()

    def erase(self, wanted: Sequence[Where], is_forgetting: bool) -> None:  # noqa: FBT001 - crosses a pipe
        """Files are rewritten for a forget if anything matches, or an erase before left them unclean."""
        self._delete([_filter(where) for where in wanted if self.count(where)])
        if is_forgetting and self._unclean.exists():
            self._clean()

    def note(self, seq: int) -> None:
        """Every change up to this one is in here; kept with the next flush."""
        self._reached.note(seq)

    def reached(self) -> int:
        """The last change that is in here with all before it; files that lost something say less."""
        return self._reached.seq

    def drop(self, ids: Sequence[str], where: Where) -> None:
        """Those of `ids` that match, from the files too."""
        self._delete([edge.Filter(must=[edge.HasIdCondition(set(ids)), *_conditions(where)])])
        self._clean()

    def search(self, arms: Sequence[Arm], where: Where) -> list[list[tuple[str, float]]]:
        """Each arm by score, then id."""
        return [[(text_of(number), score) for number, score in hits] for hits in self._search(arms, where)]

    def nominate(self, arms: Sequence[Arm], where: Where, datasets: Sequence[str]) -> Named:
        """What the arms find under `where`, scored by all of them, and the turns before it in `datasets`."""
        found = {number for hits in self._search(arms, where) for number, _ in hits}
        candidates = self._known.of(sorted(found), datasets)
        read_with = [point.previous for point in candidates.values() if point.kind in (TURN, DERIVED)]
        before = set().union(*read_with).difference(candidates, (NONE_BEFORE,))
        return named(arms, candidates, self._known.of(sorted(before), datasets))

    def _search(self, arms: Sequence[Arm], where: Where) -> list[list[tuple[int, float]]]:
        """By score, then id. Where the limit cuts through equal scores, all of those are fetched first."""
        chosen = self._narrowest(where)
        found: list[list[tuple[int, float]]] = [[] for _ in arms]
        open_arms = {number: first_asked(arm) for number, arm in enumerate(arms)}
        while open_arms:
            requests = [_request(arms[number], asked, chosen) for number, asked in open_arms.items()]
            answers = self._shard.query_batch(edge.QueryBatchRequest(requests))
            for (number, asked), hits in zip(list(open_arms.items()), answers, strict=True):
                if is_cut_in_a_tie(hits, arms[number].limit, asked):
                    open_arms[number] = asked * TIE_GROWTH
                else:
                    del open_arms[number]
                    found[number] = _ranked(hits, arms[number].limit)
        return found

    def _read(self, ids: Sequence[str]) -> list[KnownPoint]:
        records = self._shard.retrieve(list(ids), with_payload=list(KNOWN_FIELDS), with_vector=True)
        return _known_points(records)

    def learn(self, count: int) -> bool:
        """Get to know the next points by id before a recall asks for them; whether there may be more."""
        if self._is_learned or self._known.is_full:
            return False
        request = edge.ScrollRequest(
            offset=self._next, limit=count, with_payload=list(KNOWN_FIELDS), with_vector=True
        )
        records, self._next = self._shard.scroll(request)
        self._known.learn(_known_points(records))
        self._is_learned = self._next is None
        return not self._is_learned

    def count(self, where: Where) -> int:
        return self._shard.count(edge.CountRequest(exact=True, filter=_filter(where)))

    def rows(self, ids: Sequence[str], where: Where) -> list[Row]:
        """Those of `ids` that match, whole, by id."""
        chosen = edge.Filter(must=[edge.HasIdCondition(set(ids)), *_conditions(where)])
        request = edge.ScrollRequest(limit=len(ids), filter=chosen, with_payload=True, with_vector=True)
        return [_row(record) for record in self._shard.scroll(request)[0]]

    def page(self, where: Where, after: str | None, limit: int) -> list[tuple[str, dict[str, Any]]]:
        """Ids and what the points say of themselves, by id."""
        request = edge.ScrollRequest(
            offset=None if after is None else UUID(after),  # is the first of the page, if it is still there
            limit=limit + 1,
            filter=_filter(where),
            with_payload=list(MARKS),
            with_vector=False,
        )
        found = [(str(record.id), record.payload or {}) for record in self._shard.scroll(request)[0]]
        return [each for each in found if each[0] != after][:limit]

    def move(self, where: Where, dataset: str) -> None:
        """Lay the points under another dataset; everything else of them stays as it is."""
        if not self.count(where):
            return
        self._unlearn()
        self._datasets.add(dataset)
        operation = edge.UpdateOperation.set_payload_by_filter(_filter(where), {"dataset": dataset})
        self._shard.update(operation)
        self._flush()  # the journal has them under the former one

    def terms_after(
        self, where: Where, after: str | None, limit: int
    ) -> tuple[str | None, list[tuple[str, int, list[int]]]]:
        """A page by id: dataset's key, generation and terms of each, and where the next page begins."""
        request = edge.ScrollRequest(
            offset=None if after is None else UUID(after),
            limit=limit,
            filter=_filter(where),
            with_payload=["dataset", "generation"],
            with_vector=[TERMS],
        )
        records, following = self._shard.scroll(request)
        return None if following is None else str(following), [_terms_of(record) for record in records]

    def optimise(self) -> Footprint:
        self._clean()
        points = self._shard.count(edge.CountRequest(exact=True))
        return Footprint(points, _bytes_in(self._folder / "segments"), self._journal.size_bytes)

    def close(self) -> None:
        self._flush()
        self._shard.close()
        self._journal.close()

    def _delete(self, chosen: Sequence[edge.Filter]) -> None:
        """From queries at once; the files are unclean from before the first until they are rewritten."""
        if not chosen:
            return
        self._unclean.touch()
        sync_folder(self._unclean.parent)
        self._unlearn()
        for each in chosen:
            self._shard.update(edge.UpdateOperation.delete_points_by_filter(each))
        self._flush()  # only now may the journal go: until here a crash undoes all of it

    def _unlearn(self) -> None:
        self._known.forget_all()
        self._next, self._is_learned = None, False

    def _put(self, rows: Sequence[Row], seq: int) -> None:
        stored = self._shard.retrieve([row.id for row in rows], with_payload=["seq"], with_vector=False)
        newer = {str(record.id) for record in stored if (record.payload or {}).get("seq", -1) > seq}
        points = [_point(row) for row in rows if row.id not in newer]
        self._known.forget([row.id for row in rows])
        if points:
            self._datasets.update(row.payload["dataset"] for row in rows)
            self._shard.update(edge.UpdateOperation.upsert_points(points))
            self._unpacked += len(points)

    def _flush(self) -> None:
        self._shard.flush()
        self._reached.keep()
        self._journal.empty()

    def _pack(self) -> None:
        self._shard.optimize()
        self._flush()
        self._unpacked = 0

    def _clean(self) -> None:
        self._pack()
        self._unclean.unlink(missing_ok=True)

    def _narrowest(self, where: Where) -> edge.Filter | None:
        """No filter at all where everything here is readable: a third of a search's time.

        Calls come one at a time, so no unreadable point can arrive between this look and the search.
        """
        if len(where) == 1 and where[0][:2] == ("any", "dataset") and self._datasets <= set(where[0][2]):
            return None
        return _filter(where)


def settings_of(dimension: int) -> edge.EdgeConfig:
    """The same at every opening, or the engine would rebuild what it has."""
    dense = edge.EdgeVectorParams(
        size=dimension, distance=edge.Distance.Cosine, datatype=edge.VectorStorageDatatype.Float16
    )
    # 1: always by the index. By default a segment of ours is small enough to be scanned, five times slower.
    sparse = edge.EdgeSparseVectorParams(full_scan_threshold=1)
    return edge.EdgeConfig(
        vectors={DENSE: dense},
        sparse_vectors={TERMS: sparse, WINDOW: sparse},
        hnsw_config=edge.HnswIndexConfig(m=0, ef_construct=100, full_scan_threshold=10_000, payload_m=0),
        optimizers=edge.EdgeOptimizersConfig(
            deleted_threshold=0.0,
            vacuum_min_vector_number=0,
            default_segment_number=2,
            max_segment_size=MAX_SEGMENT_KB,
            indexing_threshold=INDEXING_THRESHOLD_KB,
        ),
        wal_enabled=False,
    )


def _known_points(records: Sequence[edge.Record]) -> list[KnownPoint]:
    vectors: Any = [record.vector for record in records]  # ours are all named
    return [decoded(str(each.id), each.payload or {}, its) for each, its in zip(records, vectors, strict=True)]


def _point(row: Row) -> edge.Point:
    vector: dict[str, Any] = {DENSE: _floats(row.dense)}
    for name, (indices, values) in ((TERMS, row.terms), (WINDOW, row.window)):
        if indices:
            vector[name] = edge.SparseVector(indices, values)
    return edge.Point(row.id, vector, row.payload)


def _row(record: edge.Record) -> Row:
    vector: Any = record.vector or {}
    terms, window = (_sparse(vector.get(name)) for name in (TERMS, WINDOW))
    return Row(str(record.id), record.payload or {}, array("f", vector[DENSE]).tobytes(), terms, window)


def _sparse(vector: edge.SparseVector | None) -> tuple[list[int], list[float]]:
    return ([], []) if vector is None else (vector.indices, vector.values)


def _terms_of(record: edge.Record) -> tuple[str, int, list[int]]:
    payload: dict[str, Any] = record.payload or {}
    vector: Any = record.vector or {}
    return payload["dataset"], payload["generation"], _sparse(vector.get(TERMS))[0]


def _request(arm: Arm, limit: int, chosen: edge.Filter | None) -> edge.QueryRequest:
    query: Any = _floats(arm.query) if isinstance(arm.query, bytes) else edge.SparseVector(*arm.query)
    return edge.QueryRequest(
        limit=limit,
        query=edge.Query.Nearest(query, arm.name),
        filter=chosen,
        params=edge.SearchParams(exact=True),
        with_payload=False,
        with_vector=False,
    )


def _ranked(hits: Sequence[edge.ScoredPoint], limit: int) -> list[tuple[int, float]]:
    last = hits[limit - 1].score if len(hits) > limit else -math.inf
    ranked = sorted((-hit.score, number_of(hit.id)) for hit in hits if hit.score >= last)
    return [(number, -score) for score, number in ranked[:limit]]


def _filter(where: Where) -> edge.Filter:
    conditions = _conditions(where)
    if not conditions:
        raise ValueError("an empty filter means every point")
    return edge.Filter(must=conditions)


def _conditions(where: Where) -> list[Any]:
    return [_condition(*one) for one in where]


def _condition(kind: str, field: str, value: Any) -> edge.FieldCondition:  # noqa: ANN401 by its kind
    if kind == "any":
        return edge.FieldCondition(key=field, match=edge.MatchAny(list(value)))
    if kind == "equals":
        return edge.FieldCondition(key=field, match=edge.MatchValue(value))
    start, below = value
    return edge.FieldCondition(key=field, range=edge.RangeFloat(gte=start, lt=below))


def _floats(packed: bytes) -> list[float]:
    floats = array("f")
    floats.frombytes(packed)
    return floats.tolist()


def _bytes_in(folder: Path) -> int:
    """Blocks on disk where the system tells: files are made larger than what is in them."""
    total = 0
    for path in folder.rglob("*"):
        status = path.stat()
        blocks = getattr(status, "st_blocks", None)
        total += status.st_size if blocks is None else blocks * 512
    return total
