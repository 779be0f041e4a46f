"""Times and ratios, as they are told."""

from collections.abc import Sequence


def middle(values: Sequence[float]) -> float:
    return at(values, 0.5)


def late(values: Sequence[float]) -> float:
    """The 95th percentile."""
    return at(values, 0.95)


def at(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def row(name: str, *numbers: float, digits: int = 2) -> None:
    """One line of a table in Markdown."""
    print(f"| {name} | {' | '.join(f'{number:.{digits}f}' for number in numbers)} |", flush=True)


def head(*names: str) -> None:
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}", flush=True)
