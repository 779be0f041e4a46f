"""Times of recall, against the embedding and one vector search alone on the same store."""

import resource
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from dormouse.compose import LOCAL_PRINCIPAL, assemble, open_ports
from dormouse.engine import Engine
from dormouse.model.recall import RecallRequest
from dormouse.model.scope import Scope
from dormouse.ports.bundle import Ports
from dormouse.ports.vector_store import DenseArm, PointFilter
from dormouse.settings import EngineSettings
from load.bench.options import Options
from load.bench.synthetic import PASSAGES_PER_PAIR, SeededEmbedder, contents, questions

TOP_K = 15
WARM_UP = 5  # questions whose times are not counted
FILLED = "filled"  # in a cached folder that holds all it should
SEARCHABLE_WITHIN_S = 3600.0
DATASET = "bench"


@dataclass(frozen=True, slots=True)
class Times:
    middle_ms: float
    late_ms: float
    busy_ms: float  # processor time of this process a call; the vectors' process is not in it


async def run(options: Options) -> None:
    print("| passages | | median ms | 95 % ms | processor ms here | ratio of medians |")
    print("|---|---|---|---|---|---|")
    for size in options.passages:
        folder = options.cache / f"synthetic-{size}"
        async with open_ports(EngineSettings(data_dir=folder)) as opened:
            ports = replace(opened, embedder=SeededEmbedder(opened.embedder))
            engine = assemble(ports)
            if not (folder / FILLED).exists():
                await _fill(engine, size)
                await ports.vectors.optimise()
                (folder / FILLED).touch()
            scope = await engine.scope_of(LOCAL_PRINCIPAL)
            asking = questions(WARM_UP + options.questions)
            bare = await _timed(_bare(ports, scope), asking)
            whole = await _timed(_whole(engine, scope), asking)
            _print(size, "embedding and one vector search", bare, 1.0)
            _print(size, "recall", whole, whole.middle_ms / bare.middle_ms)


async def _fill(engine: Engine, size: int) -> None:
    started, busy = time.perf_counter(), time.process_time()
    async with engine.running():
        scope = await engine.scope_of(LOCAL_PRINCIPAL)
        jobs = [(await engine.remember(scope, DATASET, content)).job.id for content in contents(size)]
        for job in jobs:
            done = await engine.wait(scope, job, until="searchable", budget_s=SEARCHABLE_WITHIN_S)
            if not done.stage.is_searchable:
                raise RuntimeError(f"job {job} ended as {done.stage.value}")
    count = len(jobs) // 2 * PASSAGES_PER_PAIR
    took_s, busy_s = time.perf_counter() - started, time.process_time() - busy
    children_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    print(
        f"<!-- remembered {count} passages without their embedding in {took_s:.0f} s: "
        f"{1000 * took_s / count:.2f} ms each, {1000 * busy_s / count:.2f} ms of processor time here, "
        f"{children_s:.0f} s in ended children -->",
        flush=True,
    )


def _bare(ports: Ports, scope: Scope) -> Callable[[str], Awaitable[object]]:
    async def ask(question: str) -> object:
        query = await ports.embedder.embed_query(question)
        return await ports.vectors.search(scope, [DenseArm(query.dense, limit=TOP_K)], PointFilter())

    return ask


def _whole(engine: Engine, scope: Scope) -> Callable[[str], Awaitable[object]]:
    async def ask(question: str) -> object:
        return await engine.recall(scope, RecallRequest(question, top_k=TOP_K))

    return ask


async def _timed(ask: Callable[[str], Awaitable[object]], asking: Sequence[str]) -> Times:
    times = []
    busy = 0.0
    for question in asking:
        began_busy, began = time.process_time(), time.perf_counter()
        await ask(question)
        times.append(1000 * (time.perf_counter() - began))
        busy = busy + time.process_time() - began_busy
    counted = sorted(times[WARM_UP:])
    late = counted[min(len(counted) - 1, int(0.95 * len(counted)))]
    return Times(counted[len(counted) // 2], late, 1000 * busy / len(asking))


def _print(size: int, name: str, times: Times, ratio: float) -> None:
    numbers = (times.middle_ms, times.late_ms, times.busy_ms, ratio)
    print(f"| {size} | {name} | {' | '.join(f'{number:.1f}' for number in numbers)} |", flush=True)
