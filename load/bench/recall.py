"""Times of recall against the embedding and one vector search alone, and what the stores take.

Every question is asked in each way in turn, so that whatever else the machine does meets all of them alike.
"""

import asyncio
import math
import os
import resource
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from dormouse.adapters.embedder.choice import EmbedderChoice
from dormouse.compose import LOCAL_PRINCIPAL, assemble, open_ports
from dormouse.engine import Engine
from dormouse.model.recall import RecallMode, RecallRequest
from dormouse.model.scope import Scope
from dormouse.ports.bundle import Ports
from dormouse.ports.vector_store import DenseArm, PointFilter
from dormouse.settings import EngineSettings
from load.bench import measured
from load.bench.fill import DATASET, fill
from load.bench.options import Options
from load.bench.processes import Running, memory_of
from load.bench.synthetic import PASSAGES_PER_PAIR, SeededEmbedder, contents, questions

TOP_K = 15
WARM_UP = 20  # questions whose times are not counted
FILLED = "filled"  # in a cached folder that holds all it should
MOST_REMEMBERED = 10_000  # larger stores are filled through the ports, which takes minutes instead of hours
SEARCHABLE_WITHIN_S = 3600.0
SETTLED_WITHIN_S = 300.0
LOOK_EVERY_S = 3.0
QUIET_SHARE = 0.02  # of one processor
MB = 1_000_000

Ask = Callable[[str], Awaitable[object]]


@dataclass(slots=True)
class Asked:
    took_ms: list[float] = field(default_factory=list)
    busy_ms: list[float] = field(default_factory=list)


async def run(options: Options) -> None:
    taken: list[tuple[int, Mapping[str, float]]] = []
    measured.head("passages", "", "median ms", "95 % ms", "processor ms", "ratio of medians", "ratio of 95 %")
    for size in options.passages:
        folder = options.cache / f"synthetic-{size}"
        async with open_ports(EngineSettings(data_dir=folder)) as opened:
            ports = replace(opened, embedders=EmbedderChoice([SeededEmbedder(opened.embedder)]))
            engine = assemble(ports)
            scope = await engine.scope_of(LOCAL_PRINCIPAL)
            if not (folder / FILLED).exists():
                await (
                    _remember(engine, size) if size <= MOST_REMEMBERED else fill(ports, scope.workspace, size)
                )
                await ports.vectors.optimise()
                (folder / FILLED).touch()
                scope = await engine.scope_of(LOCAL_PRINCIPAL)
            await _settled(Running(os.getpid(), "", 0.0))
            _tell(size, await _timed(_ways(ports, engine, scope), options.questions))
            taken.append((size, _taken(folder, size)))
    print()
    measured.head("passages", *taken[0][1])
    for size, numbers in taken:
        measured.row(str(size), *numbers.values(), digits=0)


async def _settled(us: Running) -> None:
    """Until nothing works by itself: after its start the vectors' process gets to know its points."""
    deadline = time.monotonic() + SETTLED_WITHIN_S
    before_s, now_s = -math.inf, us.busy_s()
    while now_s - before_s > QUIET_SHARE * LOOK_EVERY_S and time.monotonic() < deadline:
        await asyncio.sleep(LOOK_EVERY_S)
        before_s, now_s = now_s, us.busy_s()


def _ways(ports: Ports, engine: Engine, scope: Scope) -> Mapping[str, Ask]:
    async def bare(question: str) -> object:
        query = await ports.embedder.embed_query(question)
        return await ports.vectors.search(scope, [DenseArm(query.dense, limit=TOP_K)], PointFilter())

    def recall(mode: RecallMode) -> Ask:
        return lambda question: engine.recall(scope, RecallRequest(question, mode=mode, top_k=TOP_K))

    return {
        "embedding and one vector search": bare,
        "recall": recall(RecallMode.AUTO),
        "recall, chunks": recall(RecallMode.CHUNKS),
        "recall, lexical": recall(RecallMode.LEXICAL),
    }


async def _timed(ways: Mapping[str, Ask], count: int) -> Mapping[str, Asked]:
    us = Running(os.getpid(), "", 0.0)
    asked = {name: Asked() for name in ways}
    for number, question in enumerate(questions(WARM_UP + count)):
        for name, ask in ways.items():
            busy_s, began = us.busy_s(), time.perf_counter()
            await ask(question)
            if number >= WARM_UP:
                asked[name].took_ms.append(1000 * (time.perf_counter() - began))
                asked[name].busy_ms.append(1000 * (us.busy_s() - busy_s))
    return asked


def _tell(size: int, asked: Mapping[str, Asked]) -> None:
    bare = next(iter(asked.values()))
    for name, each in asked.items():
        middle, late = measured.middle(each.took_ms), measured.late(each.took_ms)
        ratios = middle / measured.middle(bare.took_ms), late / measured.late(bare.took_ms)
        busy_ms = sum(each.busy_ms) / len(each.busy_ms)  # the clock's ticks are too coarse for a median
        measured.row(f"{size} | {name}", middle, late, busy_ms, *ratios, digits=1)


def _taken(folder: Path, size: int) -> Mapping[str, float]:
    memory = memory_of(os.getpid())
    return {
        "MB here": memory[0] / MB,
        "MB in the vectors' process": sum(memory[1:]) / MB,
        "vectors on disk, bytes a passage": _on_disk(folder / "vectors") / size,
        "graph on disk, bytes a passage": _on_disk(folder / "graph.sqlite3") / size,
    }


def _on_disk(path: Path) -> int:
    """Blocks: files are made larger than what is in them."""
    return sum(each.stat().st_blocks * 512 for each in (path, *path.rglob("*")) if each.is_file())


async def _remember(engine: Engine, size: int) -> None:
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
