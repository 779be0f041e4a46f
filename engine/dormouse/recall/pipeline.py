"""One recall from the query to the result: sessions, nomination, scoring, hydration, answer.

Every stage has its span. What does not answer is named in `degraded` as long as an honest part of the answer
exists; otherwise the error goes to the caller. Nothing of a dataset outside the scope takes part in any stage.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dormouse import telemetry
from dormouse.errors import EmbedderUnavailableError, StoreUnavailableError
from dormouse.ids import DatasetId, TermId
from dormouse.model.document import Document, Revision
from dormouse.model.passage import Passage
from dormouse.model.recall import Hit, Outcome, RecallMode, RecallRequest, RecallResult, SessionHit
from dormouse.model.scope import Scope
from dormouse.ports.bundle import Ports
from dormouse.ports.catalog.transaction import CatalogTransaction
from dormouse.ports.embedder import EmbeddedQuery
from dormouse.ports.vector_store import DenseArm, Nomination, PointFilter, TermArm
from dormouse.recall.answer import answer
from dormouse.recall.beside import beside
from dormouse.recall.course import Course
from dormouse.recall.dated import spans_of
from dormouse.recall.derived import pooled
from dormouse.recall.embed import embed_query
from dormouse.recall.fuse import DEFAULT, Evidence, Ranked, Weights, fuse
from dormouse.recall.graph import Visible
from dormouse.recall.hits import Hydration
from dormouse.recall.lexical import NOMINEES, term_arms, term_weights
from dormouse.recall.max_sim import AskedTokens, asked_tokens
from dormouse.recall.newest import newest_first
from dormouse.recall.recent import MAX_ITEMS, PassagesOf, Pending, find_pending, on_one_scale
from dormouse.recall.status_probe import BUDGET_S, probe
from dormouse.recall.understand import Understanding
from dormouse.recall.vector import gather_evidence, gather_scores

SessionSearch = Callable[[Scope, str, str, int], Awaitable[Sequence[SessionHit]]]

NO_COLUMN = np.zeros(0, dtype=np.float32)
NOTHING = Evidence(Nomination.nothing())

_Weights = Mapping[TermId, float]


async def nothing_pending(document: Document, revision: Revision) -> Sequence[Passage]:  # noqa: ARG001
    return ()


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
        self._hydration = Hydration(ports, visible)
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
        course = Course(scope, request, self._ports.clock.now_ms())
        session_hits = await self._sessions(course)
        hits = await self._graph(course) if wants_graph(request, session_hits) else ()
        if course.failure and not hits and not session_hits:
            raise course.failure
        if not hits and not session_hits:
            return await self._empty(course)
        result = RecallResult("found", tuple(hits), tuple(session_hits), degraded=tuple(course.degraded))
        return await self._answered(course, result)

    async def _sessions(self, course: Course) -> Sequence[SessionHit]:
        request = course.request
        if not request.session or (request.sources is not None and "session" not in request.sources):
            return ()
        return await self._session_search(course.scope, request.session, request.query, request.top_k)

    async def _graph(self, course: Course) -> Sequence[Hit]:
        # The model and the catalog do not wait for each other.
        query, (weights, pending) = await beside(self._embedded(course), self._weighed(course))
        asked, evidence = await self._nominated(course, weights, query)
        with telemetry.span(
            telemetry.RECALL_FUSE, {telemetry.CANDIDATES_IN: len(evidence.named.candidates) + len(pending)}
        ):
            # Milliseconds of arithmetic over hundreds of token matrices: not on the loop's own thread.
            ranked = await asyncio.to_thread(self._ranked, course, asked, evidence, pending)
        with telemetry.span(telemetry.RECALL_GRAPH, {telemetry.CANDIDATES_IN: len(ranked)}) as opened:
            hits = await self._hydration.hits(course, ranked, pending)
            if not course.is_lexical:
                hits = newest_first(course.understanding, hits)
            opened.set_attribute(telemetry.CANDIDATES_OUT, len(hits))
        return hits

    async def _weighed(self, course: Course) -> tuple[_Weights, list[Pending]]:
        with telemetry.span(telemetry.RECALL_LEXICAL):
            understanding = course.understanding
            weights, waiting, course.dataset_names = await self._ports.catalog.read(
                lambda tx: _looked_up(tx, course.scope, understanding)
            )
            pending = await find_pending(waiting, self._passages_of, weights)
        return weights, pending

    async def _embedded(self, course: Course) -> EmbeddedQuery | None:
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
        self, course: Course, weights: _Weights, query: EmbeddedQuery | None
    ) -> tuple[AskedTokens | None, Evidence]:
        """With the query as the model of the vectors asked has it: a migration may have ended meanwhile."""
        while query is not None and course.embedder is not self._ports.embedder:
            query = await self._embedded(course)
        if query is None:
            return None, await self._found(course, weights, query)
        return await beside(asyncio.to_thread(asked_tokens, query), self._found(course, weights, query))

    async def _found(self, course: Course, weights: _Weights, query: EmbeddedQuery | None) -> Evidence:
        arms: dict[str, DenseArm | TermArm] = dict(term_arms(weights, with_windows=not course.is_lexical))
        if query is not None:
            arms["dense"] = DenseArm(query.dense, limit=NOMINEES)
        if not arms or not course.scope.readable:
            return NOTHING
        with telemetry.span(telemetry.RECALL_VECTOR) as opened:
            try:
                if course.is_lexical:
                    evidence = await gather_scores(self._ports.vectors, course.scope, arms, PointFilter())
                else:
                    spans = spans_of(course.understanding)
                    evidence = await gather_evidence(self._ports.vectors, course.scope, arms, spans)
            except StoreUnavailableError as failure:
                course.lacks("vector", failure)
                return NOTHING
            opened.set_attribute(telemetry.CANDIDATES_OUT, len(evidence.named.candidates))
            return evidence

    def _ranked(
        self,
        course: Course,
        asked: AskedTokens | None,
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
            ranked = fuse(course.understanding, asked, evidence, self._weights)
        ranked = pooled(ranked, named)
        if pending:
            known = {each.passage for each in ranked}
            fresh = [each for each in pending if each.passage.id not in known]
            ranked += on_one_scale(fresh, ranked, [terms_found.get(each.passage, 0.0) for each in ranked])
        return sorted(ranked, key=lambda each: (-each.score, each.passage))

    async def _answered(self, course: Course, result: RecallResult) -> RecallResult:
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

    async def _empty(self, course: Course) -> RecallResult:
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


def wants_graph(request: RecallRequest, session_hits: Sequence[SessionHit]) -> bool:
    """After a session's hits only when asked for: by naming datasets or both sources."""
    if request.sources is not None:
        return "graph" in request.sources
    return not session_hits or request.datasets is not None
