"""`python -m load.bench --cache FOLDER [--only SUBJECT ...]`: figures as Markdown, one table per subject."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from load.bench import bulk, mcp_calls, recall, starting, writes
from load.bench.options import Options

SUBJECTS: Mapping[str, Callable[[Options], Awaitable[None]]] = {
    "recall": recall.run,
    "writes": writes.run,
    "mcp": mcp_calls.run,
    "bulk": bulk.run,
    "starting": starting.run,
}


async def run(subjects: list[str], options: Options) -> None:
    for subject in subjects:
        print(f"\n## {subject}\n", flush=True)
        await SUBJECTS[subject](options)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m load.bench", description=__doc__)
    parser.add_argument("--cache", type=Path, required=True, help="folder that keeps the filled stores")
    parser.add_argument("--only", nargs="+", choices=list(SUBJECTS), default=list(SUBJECTS), help="subjects")
    parser.add_argument("--passages", type=int, nargs="+", default=[600, 10_000], help="sizes for recall")
    parser.add_argument("--questions", type=int, default=100, help="asked for each size")
    given = parser.parse_args()
    asyncio.run(run(given.only, Options(given.cache, given.passages, given.questions)))


if __name__ == "__main__":
    main()
