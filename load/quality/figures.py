"""Found evidence to figures, and figures to a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

DEPTHS = (5, 10, 20)


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over questions: the share of the gold found within each depth, and one over the first's rank."""

    questions: int
    recalls: tuple[float, ...]
    reciprocal_rank: float


def figures(results: Iterable[tuple[Sequence[str], frozenset[str]]]) -> Figures:
    """Each result is what was found, best first, and what should have been."""
    counted = [
        (*(len(gold.intersection(found[:depth])) / len(gold) for depth in DEPTHS), _first(found, gold))
        for found, gold in results
    ]
    means = [sum(column) / len(counted) for column in zip(*counted, strict=True)] or [0.0] * 4
    return Figures(len(counted), tuple(means[:-1]), means[-1])


def table(title: str, rows: Sequence[tuple[str, Figures]]) -> str:
    """Markdown, in percent; MRR as a fraction."""
    head = " | ".join(f"R@{depth}" for depth in DEPTHS)
    lines = [f"| {title} | questions | {head} | MRR |", "|---|---|---|---|---|---|"]
    for name, each in rows:
        recalls = " | ".join(f"{100 * recall:.1f}" for recall in each.recalls)
        lines.append(f"| {name} | {each.questions} | {recalls} | {each.reciprocal_rank:.3f} |")
    return "\n".join(lines)


def _first(found: Sequence[str], gold: frozenset[str]) -> float:
    return next((1.0 / rank for rank, each in enumerate(found, 1) if each in gold), 0.0)
