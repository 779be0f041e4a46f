"""One recall from the query to the result: sessions, nomination, scoring, hydration, answer.

Every stage has its span. What does not answer is named in `degraded` as long as an honest part of the answer
exists; otherwise the error goes to the caller. Nothing of a dataset outside the scope takes part in any stage.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dormouse import telemetry
from dormouse.errors import EmbedderUnavailableError, StoreUnavailableError
from dormouse.ids import DatasetId, DocumentId, PassageId, TermId
from dormouse.model.document import Document, Revision
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.model.recall import Hit, Outcome, RecallMode, RecallRequest, RecallResult, SessionHit
from dormouse.model.scope import Scope
from dormouse.ports.bundle import Ports
from dormouse.ports.catalog.transaction import CatalogTransaction
from dormouse.ports.embedder import EmbeddedQuery, Embedder
from dormouse.ports.vector_store import DenseArm, Nomination, PointFilter, TermArm
from dormouse.recall.answer import answer
from dormouse.recall.derived import pooled
from dormouse.recall.embed import embed_query
from dormouse.recall.fuse import DEFAULT, Evidence, Ranked, Weights, fuse
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
from dormouse.recall.lexical import NOMINEES, term_arms, term_weights
from dormouse.recall.recent import MAX_ITEMS, PassagesOf, Pending, find_pending, on_one_scale
from dormouse.recall.status_probe import BUDGET_S, probe
from dormouse.recall.understand import Understanding, understand
from dormouse.recall.vector import gather_evidence, gather_scores

SessionSearch = Callable[[Scope, str, str, int], Awaitable[Sequence[SessionHit]]]

NO_COLUMN = np.zeros(0, dtype=np.float32)
NOTHING = Evidence(Nomination.nothing())

_Weights = Mapping[TermId, float]


async def nothing_pending(document: Document, revision: Revision) -> Sequence[Passage]:  # noqa: ARG001
    return ()


@dataclass(slots=True)
class _Course:
    """What one recall has learned so far."""

    scope: Scope
    request: RecallRequest
    understanding: Understanding
    now_ms: int
    dataset_names: dict[DatasetId, str] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)
    failure: StoreUnavailableError | None = None
    embedder: Embedder | None = None  # that made the query's vectors

    def lacks(self, part: str, failure: StoreUnavailableError | None = None) -> None:
        if part not in self.degraded:
            self.degraded.append(part)
        self.failure = self.failure or failure

    @property
    def is_lexical(self) -> bool:
        return self.request.mode is RecallMode.LEXICAL


class RecallPipeline:
    """`visible` is the one place that hides what is forgotten; `passages_of` cuts what is not yet searchable;
    `weights` is the table of signals, another than the default only for measuring."""

    def __init__(
        self,
        ports: Ports,
        *,
        session_search: SessionSearch,
        visible: Visible,
        passages_of: PassagesOf = nothing_pending,
        weights: Weights = DEFAULT,
    ) -> None:
        self._ports = ports
        self._session_search = session_search
        self._visible = visible
        self._passages_of = passages_of
        self._weights = weights

    async def recall(self, scope: Scope, request: RecallRequest) -> RecallResult:
        """Raises `StoreUnavailableError` and `CatalogUnavailableError` when not even a part can be answered."""
        if request.datasets is not None:
            scope = scope.narrowed_to(request.datasets)
        with telemetry.search_memory(
            workspace=scope.workspace, search_type=request.mode.value, datasets=len(scope.readable)
        ) as seen:
            result = await self._recall(scope, request)
            seen.outcome = result.outcome
            seen.records = len(result.hits) + len(result.session_hits)
            seen.degraded = result.degraded
            return result

    async def _recall(self, scope: Scope, request: RecallRequest) -> RecallResult:
        now_ms = self._ports.clock.now_ms()
        reference_ms = now_ms if request.at_ms is None else request.at_ms
        course = _Course(scope, request, understand(request.query, reference_ms), now_ms)
        session_hits = await self._sessions(course)
        hits = await self._graph(course) if wants_graph(request, session_hits) else ()
        if course.failure and not hits and not session_hits:
            raise course.failure
        if not hits and not session_hits:
            return await self._empty(course)
        result = RecallResult("found", tuple(hits), tuple(session_hits), degraded=tuple(course.degraded))
        return await self._answered(course, result)

    async def _sessions(self, course: _Course) -> Sequence[SessionHit]:
        request = course.request
        if not request.session or (request.sources is not None and "session" not in request.sources):
            return ()
        return await self._session_search(course.scope, request.session, request.query, request.top_k)

    async def _graph(self, course: _Course) -> Sequence[Hit]:
        query, (weights, pending) = await self._read_query(course)
        query, evidence = await self._nominated(course, weights, query)
        with telemetry.span(
            telemetry.RECALL_FUSE, {telemetry.CANDIDATES_IN: len(evidence.named.candidates) + len(pending)}
        ):
            # Milliseconds of arithmetic over hundreds of token matrices: not on the loop's own thread.
            ranked = await asyncio.to_thread(self._ranked, course, query, evidence, pending)
        with telemetry.span(telemetry.RECALL_GRAPH, {telemetry.CANDIDATES_IN: len(ranked)}) as opened:
            hits = await self._hydrated(course, ranked, pending)
            opened.set_attribute(telemetry.CANDIDATES_OUT, len(hits))
        return hits

    async def _read_query(self, course: _Course) -> tuple[EmbeddedQuery | None, tuple[_Weights, list[Pending]]]:
        """The model and the catalog do not wait for each other."""
        try:
            async with asyncio.TaskGroup() as group:
                embedding = group.create_task(self._embedded(course), name="embed-query")
                weighing = group.create_task(self._weighed(course), name="weigh-terms")
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None  # as if they had come one after the other
        return embedding.result(), weighing.result()

    async def _weighed(self, course: _Course) -> tuple[_Weights, list[Pending]]:
        with telemetry.span(telemetry.RECALL_LEXICAL):
            weights, waiting, course.dataset_names = await self._ports.catalog.read(
                lambda tx: _looked_up(tx, course.scope, course.understanding)
            )
            pending = await find_pending(waiting, self._passages_of, weights)
        return weights, pending

    async def _embedded(self, course: _Course) -> EmbeddedQuery | None:
        if course.is_lexical:
            return None
        with telemetry.span(telemetry.RECALL_EMBED):
            try:
                course.embedder = self._ports.embedder
                return await embed_query(course.embedder, course.request.query)
            except EmbedderUnavailableError:
                course.lacks("embedder")
                return None

    async def _nominated(
        self, course: _Course, weights: _Weights, query: EmbeddedQuery | None
    ) -> tuple[EmbeddedQuery | None, Evidence]:
        """With the query as the model of the vectors asked has it: a migration may have ended meanwhile."""
        while query is not None and course.embedder is not self._ports.embedder:
            query = await self._embedded(course)
        return query, await self._found(course, weights, query)

    async def _found(self, course: _Course, weights: _Weights, query: EmbeddedQuery | None) -> Evidence:
        arms: dict[str, DenseArm | TermArm] = dict(term_arms(weights, with_windows=not course.is_lexical))
        if query is not None:
            arms["dense"] = DenseArm(query.dense, limit=NOMINEES)
        if not arms or not course.scope.readable:
            return NOTHING
        with telemetry.span(telemetry.RECALL_VECTOR) as opened:
            try:
                gather = gather_scores if course.is_lexical else gather_evidence
                evidence = await gather(self._ports.vectors, course.scope, arms, PointFilter())
            except StoreUnavailableError as failure:
                course.lacks("vector", failure)
                return NOTHING
            opened.set_attribute(telemetry.CANDIDATES_OUT, len(evidence.named.candidates))
            return evidence

    def _ranked(
        self,
        course: _Course,
        query: EmbeddedQuery | None,
        evidence: Evidence,
        pending: Sequence[Pending],
    ) -> list[Ranked]:
        """Searchable and pending passages on one scale; a passage in both lanes counts once."""
        named = evidence.named
        # As plain numbers: a score that leaves here is compared and shown, never computed with in bulk.
        terms_found = dict(zip(named.passages, evidence.arms.get("terms", NO_COLUMN).tolist(), strict=False))
        if course.is_lexical:
            ranked = [Ranked(each, terms_found.get(each, 0.0)) for each in named.candidates]
        else:
            ranked = fuse(course.understanding, query, evidence, self._weights)
        ranked = pooled(ranked, named)
        known = {each.passage for each in ranked}
        fresh = [each for each in pending if each.passage.id not in known]
        ranked += on_one_scale(fresh, ranked, [terms_found.get(each.passage, 0.0) for each in ranked])
        return sorted(ranked, key=lambda each: (-each.score, each.passage))

    async def _hydrated(
        self, course: _Course, ranked: Sequence[Ranked], pending: Sequence[Pending]
    ) -> Sequence[Hit]:
        waiting = {each.passage.id: each.passage for each in pending}
        passages, times = await self._visible_passages(course, ranked, waiting)
        chosen = select(ranked, passages, course.request.top_k)
        shown = [passages[each.passage] for each in chosen]
        memories = await self._memories(course, shown, waiting)
        return [
            Hit(
                passage=passages[each.passage],
                dataset_name=course.dataset_names.get(passages[each.passage].dataset, ""),
                score=each.score,
                memories=memories.get(each.passage, ()),
                through=_through(each, memories.get(each.passage, ())),
                is_pending=each.passage in waiting,
                remembered_ms=times.get(passages[each.passage].document),
            )
            for each in chosen
        ]

    async def _visible_passages(
        self, course: _Course, ranked: Sequence[Ranked], waiting: Mapping[PassageId, Passage]
    ) -> tuple[dict[PassageId, Passage], dict[DocumentId, int]]:
        """Best first and no more than needed: the rest is only read when too much turned out hidden."""
        found: dict[PassageId, Passage] = {}
        times: dict[DocumentId, int] = {}
        top_k = course.request.top_k
        for start in range(0, len(ranked), top_k * SPARE):
            ids = [each.passage for each in ranked[start : start + top_k * SPARE]]
            stored = await self._hydrate(course, [id_ for id_ in ids if id_ not in waiting])
            passages = [*stored, *(waiting[id_] for id_ in ids if id_ in waiting)]
            seen, changed = await only_visible(
                self._ports.catalog, self._visible, course.scope, passages, course.request.at_ms
            )
            found |= seen
            times |= changed
            if len(select(ranked, found, top_k)) >= top_k:
                break
        return found, times

    async def _hydrate(self, course: _Course, ids: Sequence[PassageId]) -> Sequence[Passage]:
        if "graph" in course.degraded:
            return ()
        try:
            return await hydrate(self._ports.graph, course.scope, ids)
        except StoreUnavailableError as failure:
            course.lacks("graph", failure)
            return ()

    async def _memories(
        self, course: _Course, passages: Sequence[Passage], waiting: Mapping[PassageId, Passage]
    ) -> Mapping[PassageId, tuple[MemoryVersion, ...]]:
        stored = [each for each in passages if each.id not in waiting]
        try:
            found = await memories_of(
                self._ports.graph, course.scope, stored, course.now_ms, course.request.at_ms
            )
            return await self._in_time(course, found)
        except StoreUnavailableError as failure:
            course.lacks("graph", failure)
            return {}

    async def _in_time(self, course: _Course, found: Memories) -> Memories:
        """With the intervals that other visible claims leave them; only those true at the asked-for time."""
        claims = await claims_beside(self._ports.graph, course.scope, found, course.now_ms)
        if not claims:
            return found
        sources = await hydrate(self._ports.graph, course.scope, list({each.passage for each in claims}))
        seen, _ = await only_visible(self._ports.catalog, self._visible, course.scope, sources, None)
        visible = [each for each in claims if each.passage in seen]
        return true_at(found, visible, course.request.at_ms)

    async def _answered(self, course: _Course, result: RecallResult) -> RecallResult:
        if course.request.mode is not RecallMode.ANSWER:
            return result
        with telemetry.span(telemetry.RECALL_ANSWER):
            made = await answer(
                self._ports.answerer, course.request.query, result.hits, course.request.instruction
            )
        if made is None:
            return result
        if made.is_second_best:
            course.lacks("answer")
        return replace(
            result,
            answer=made.text,
            answer_model=made.model,
            answer_sources=made.based_on,
            degraded=tuple(course.degraded),
        )

    async def _empty(self, course: _Course) -> RecallResult:
        datasets = course.scope.readable
        with telemetry.status_probe(budget_s=BUDGET_S, datasets=len(datasets)) as seen:
            verdict = await probe(self._ports.catalog, datasets)
            seen.outcome = verdict.outcome
        outcome: Outcome = "none"
        if verdict.outcome in ("indexing", "build_failed"):
            outcome = verdict.outcome
        is_counted = verdict.outcome == "indexing" and verdict.total > 0
        return RecallResult(
            outcome,
            completed=verdict.done if is_counted else None,
            total=verdict.total if is_counted else None,
            degraded=tuple(course.degraded),
        )


async def _looked_up(
    tx: CatalogTransaction, scope: Scope, understanding: Understanding
) -> tuple[_Weights, Sequence[tuple[Document, Revision]], dict[DatasetId, str]]:
    """The weights of the query's terms, what is not yet searchable, and the names of the datasets."""
    weights = await term_weights(tx, scope, understanding)
    waiting = await tx.revisions.recent_inline(scope.readable, MAX_ITEMS)
    datasets = await tx.datasets.many(scope.readable)
    return weights, waiting, {each.id: each.name for each in datasets}


def _through(ranked: Ranked, memories: Sequence[MemoryVersion]) -> tuple[MemoryVersion, ...]:
    """The memories worded by the derived passages it was found by; those not believed any more say nothing."""
    believed = {str(memory.memory): memory for memory in memories}
    return tuple(believed[each] for each in ranked.through if each in believed)


def wants_graph(request: RecallRequest, session_hits: Sequence[SessionHit]) -> bool:
    """After a session's hits only when asked for: by naming datasets or both sources."""
    if request.sources is not None:
        return "graph" in request.sources
    return not session_hits or request.datasets is not None
