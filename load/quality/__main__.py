"""`python -m load.quality --data FOLDER [--set NAME] [--store FOLDER] [--ablation]`: figures as Markdown."""

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dormouse.compose import LOCAL_PRINCIPAL, assemble, open_ports
from dormouse.engine import Engine
from dormouse.model.scope import Scope
from dormouse.recall.fuse import DEFAULT, Weights, without
from dormouse.settings import EngineSettings
from load.quality.figures import Figures, figures, table
from load.quality.measure import Found, Recall, ask_all, recall_weighing, remember_all, remembering
from load.quality.sets import QuestionSet, read_sets

SIGNALS = (
    "max_sim", "max_sim_window", "dense", "dense_window", "terms", "terms_window", "neighbours",
    "speaker", "own_words", "date",
)  # fmt: skip


async def run(data: Path, store: Path, wanted: str, *, with_ablation: bool) -> None:
    async with open_ports(EngineSettings(data_dir=store)) as ports:
        engine = assemble(ports)
        for each in read_sets(data, wanted):
            async with engine.running():
                await remember_all(engine, await engine.scope_of(LOCAL_PRINCIPAL), each)
            scope = await engine.scope_of(LOCAL_PRINCIPAL)
            found = await ask_all(engine, scope, engine.recall, each)
            print(table(each.name, _by_category(found)), flush=True)
            print(f"\n{_speed(found)}\n", flush=True)
            if with_ablation:
                again = remembering(ports)  # nobody is nominated or embedded differently by a weight
                variants = [(name, recall_weighing(again, weights)) for name, weights in _variants()]
                rows = [await _row(name, recall, engine, scope, each) for name, recall in variants]
                print(table(f"{each.name}, signals off", rows), flush=True)


def _variants() -> list[tuple[str, Weights]]:
    off = [(f"without {name}", without(name)) for name in SIGNALS if without(name) != DEFAULT]
    none = replace(DEFAULT, **dict.fromkeys(Weights.__slots__, 0.0))
    alone = [("terms alone", replace(none, terms=1.0))]
    return off + alone


async def _row(name: str, recall: Recall, engine: Engine, scope: Scope, of: QuestionSet) -> tuple[str, Figures]:
    found = await ask_all(engine, scope, recall, of)
    return name, figures((ids, question.gold) for question, ids, _ in found)


def _by_category(found: Sequence[Found]) -> list[tuple[str, Figures]]:
    rows = [("all", figures((ids, question.gold) for question, ids, _ in found))]
    for category in sorted({question.category for question, _, _ in found}):
        chosen = [(ids, question.gold) for question, ids, _ in found if question.category == category]
        rows.append((category, figures(chosen)))
    return rows


def _speed(found: Sequence[Found]) -> str:
    times = sorted(took_s for _, _, took_s in found)
    middle, late = times[len(times) // 2], times[int(len(times) * 0.95)]
    return f"A recall took {1000 * middle:.0f} ms (median), {1000 * late:.0f} ms (95th percentile)."


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m load.quality", description=__doc__)
    options.add_argument("--data", type=Path, required=True, help="folder with the question sets")
    options.add_argument("--store", type=Path, help="folder that keeps what was remembered for the next run")
    options.add_argument("--set", default="", help="only sets whose name contains this")
    options.add_argument("--ablation", action="store_true", help="also measure with each signal off")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        store = chosen.store or Path(temporary)
        asyncio.run(run(chosen.data, store, chosen.set, with_ablation=chosen.ablation))


if __name__ == "__main__":
    main()
