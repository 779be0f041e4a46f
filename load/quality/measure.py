"""Remember a set through the engine as a user would, then ask every question through recall.

One dataset per group. What was remembered stays in the store folder and is found again by the next run, so an
ablation costs no second embedding.
"""

import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from dormouse.access.lookup import visible
from dormouse.adapters.embedder.choice import EmbedderChoice
from dormouse.engine import Engine
from dormouse.ids import DatasetId, JobId, PassageId
from dormouse.model.memory import MemoryVersion
from dormouse.model.passage import Passage
from dormouse.model.recall import RecallRequest, RecallResult
from dormouse.model.scope import Permission, Scope
from dormouse.ports.bundle import Ports
from dormouse.ports.embedder import EmbeddedQuery, Embedder
from dormouse.ports.graph_store import GraphStore, MemoryQuery
from dormouse.ports.vector_store import DenseArm, Nomination, PointFilter, TermArm, VectorStore
from dormouse.recall.fuse import Weights
from dormouse.recall.pipeline import RecallPipeline
from dormouse.sessions.search import search
from load.quality.figures import DEPTHS
from load.quality.sets import Question, QuestionSet, contents_of

SEARCHABLE_WITHIN_S = 3600.0

Recall = Callable[[Scope, RecallRequest], Awaitable[RecallResult]]
Found = tuple[Question, tuple[str, ...], float]


def dataset_name(of: QuestionSet, group: str) -> str:
    return f"{of.name} {group}"


async def remember_all(engine: Engine, scope: Scope, of: QuestionSet) -> None:
    """What is there already costs no work: the engine knows the same content again."""
    jobs: list[JobId] = []
    for group in sorted({row.group for row in of.rows}):
        for content in contents_of(tuple(row for row in of.rows if row.group == group)):
            receipt = await engine.remember(scope, dataset_name(of, group), content)
            jobs.append(receipt.job.id)
    for job in jobs:
        done = await engine.wait(scope, job, until="searchable", budget_s=SEARCHABLE_WITHIN_S)
        if not done.stage.is_searchable:
            raise RuntimeError(f"job {job} ended as {done.stage.value}")


async def ask_all(engine: Engine, scope: Scope, recall: Recall, of: QuestionSet) -> Sequence[Found]:
    """What was found for each question, best first, by the caller's own ids, and the seconds it took."""
    datasets: dict[str, DatasetId] = {}
    for group in {question.group for question in of.questions}:
        found = await engine.dataset_named(scope, dataset_name(of, group), permission=Permission.READ)
        datasets[group] = found.id
    answers = []
    for question in of.questions:
        request = RecallRequest(
            question.text, datasets=frozenset({datasets[question.group]}), top_k=max(DEPTHS)
        )
        started = time.perf_counter()
        result = await recall(scope, request)
        took_s = time.perf_counter() - started
        ids = (hit.passage.external_id for hit in result.hits)
        answers.append((question, tuple(dict.fromkeys(id_ for id_ in ids if id_)), took_s))
    return answers


def remembering(ports: Ports) -> Ports:
    """The same, but asked again they repeat their answers: for recalls that differ in weights alone."""
    asked = _Asked(ports)
    return replace(
        ports,
        vectors=cast("VectorStore", asked),
        embedders=EmbedderChoice([cast("Embedder", asked)]),
        graph=cast("GraphStore", asked),
    )


class _Asked:
    """What a recall asks of embedder, vectors and graph, once for each different question."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._queries: dict[str, EmbeddedQuery] = {}
        self._named: dict[tuple[object, ...], Nomination] = {}
        self._passages: dict[PassageId, Passage] = {}

    async def embed_query(self, text: str) -> EmbeddedQuery:
        if text not in self._queries:
            self._queries[text] = await self._ports.embedder.embed_query(text)
        return self._queries[text]

    async def nominate(
        self, scope: Scope, arms: Sequence[DenseArm | TermArm], where: PointFilter
    ) -> Nomination:
        asked = tuple(
            arm.vector.tobytes() if isinstance(arm, DenseArm) else (*sorted(arm.weights.items()), arm.of_window)
            for arm in arms
        )
        key = (scope.readable, asked)
        if key not in self._named:
            self._named[key] = await self._ports.vectors.nominate(scope, arms, where)
        return self._named[key]

    async def passages(self, scope: Scope, ids: Collection[PassageId]) -> Sequence[Passage]:
        unknown = [id_ for id_ in ids if id_ not in self._passages]
        if unknown:
            self._passages |= {each.id: each for each in await self._ports.graph.passages(scope, unknown)}
        return [self._passages[id_] for id_ in ids if id_ in self._passages]

    async def memories(self, scope: Scope, query: MemoryQuery) -> Sequence[MemoryVersion]:  # noqa: ARG002
        return ()  # decide no rank


def recall_weighing(ports: Ports, weights: Weights) -> Recall:
    """The engine's own recall with another table of weights."""
    pipeline = RecallPipeline(
        ports, session_search=partial(search, ports.catalog), visible=visible, weights=weights
    )
    return pipeline.recall
