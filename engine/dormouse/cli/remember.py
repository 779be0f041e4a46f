"""`dormouse remember`: files, folders and standard input into a dataset.

Several files are under way at once; each counts when it is searchable. An interrupted run is repeated:
what is already there costs a look and no work.
"""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dormouse.adapters.remote.rest import RefusedError, RestClient, Upload
from dormouse.cli.connection import connected
from dormouse.cli.mail_pieces import pieces
from dormouse.cli.prune import tell_what_is_gone
from dormouse.cli.terminal import Progress, amount, note, progress, say
from dormouse.cli.walk import Found, Skipped, files_under
from dormouse.ids import sha256_hex
from dormouse.model.document import CONTENT_LIMIT_BYTES

UNDER_WAY = 8  # enough to keep the server busy, few enough for 80 MiB at most
WAIT_S = 5  # one look at a job; the server answers earlier when it is done
SHOWN_SKIPS = 20
STDIN = "-"

Result = Literal["remembered", "unchanged", "accepted", "failed"]
# Refusals that hit every file alike: going on would only repeat them.
_FATAL = frozenset({"unauthenticated", "forbidden", "not_found", "misconfigured"})


@dataclass(frozen=True, slots=True)
class Source:
    """`path` None: the content is already here (standard input). `span`: only this piece of the file."""

    name: str
    path: Path | None
    content: bytes = b""
    span: tuple[int, int] | None = None

    def read(self) -> bytes:
        if self.path is None:
            return self.content
        if self.span is None:
            return self.path.read_bytes()
        start, end = self.span
        with self.path.open("rb") as stream:
            stream.seek(start)
            return stream.read(end - start)


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    result: Result
    reason: str = ""


@dataclass(slots=True)
class Run:
    """One command's work. `fatal` is set once and ends the others after their current file."""

    client: RestClient
    fields: Mapping[str, str | list[str]]
    waits: bool
    todo: Iterator[Source]
    shown: Progress
    outcomes: list[Outcome] = field(default_factory=list)
    fatal: RefusedError | None = None


async def remember(
    paths: Sequence[str], fields: Mapping[str, str | list[str]], *, name: str, waits: bool, prunes: bool
) -> int:
    """Returns the exit code: 0, or 1 if anything failed. `prunes` forgets what has no file any more, if that is
    confirmed."""
    started = time.monotonic()
    sources, skipped = gathered(paths, name)
    named = _files_named(paths)
    left_out = [skip for skip in skipped if skip.name not in named]
    # A file that was asked for by name is not left out in silence.
    outcomes = [Outcome(skip.name, "failed", skip.reason) for skip in skipped if skip.name in named]
    _show_skipped(left_out)
    if sources:
        async with connected() as client:
            with progress(len(sources)) as shown:
                run = Run(client, fields, waits, iter(sources), shown)
                await _work_through(run)
            there = {*(source.name for source in sources), *(skip.name for skip in skipped)}
            await tell_what_is_gone(client, str(fields["datasetName"]), paths, there, forgets=prunes)
        outcomes += run.outcomes
    return _summarise(outcomes, len(left_out), time.monotonic() - started)


def _files_named(paths: Sequence[str]) -> set[str]:
    return {path for path in paths if not Path(path).is_dir()}


def gathered(paths: Sequence[str], name: str) -> tuple[list[Source], list[Skipped]]:
    """What to send, in order and each file once, and what is left out."""
    sources: dict[str | Path, list[Source]] = {}
    skipped: list[Skipped] = []
    for path in paths:
        if path == STDIN:
            content = sys.stdin.buffer.read()
            sources[STDIN] = [Source(name or nameless(content), None, content)]
            continue
        for found in files_under(Path(path)):
            if isinstance(found, Found):
                sources.setdefault(found.path.resolve(), _sources_of(found, name or found.name))
            else:
                # Named as it was typed: a bare name would not say which of two was meant.
                skipped.append(found if Path(path).is_dir() else Skipped(path, found.reason))
    return [source for several in sources.values() for source in several], skipped


def _sources_of(found: Found, name: str) -> list[Source]:
    """The file; a mailbox that is too large for one document in pieces named after it."""
    if found.size_bytes <= CONTENT_LIMIT_BYTES:
        return [Source(name, found.path)]
    spans = pieces(found.path, found.size_bytes)
    return [Source(f"{name}/{number:03}.mbox", found.path, span=span) for number, span in enumerate(spans, 1)]


def nameless(content: bytes) -> str:
    """A name of its own for every content: a common one would make each note replace the one before."""
    return f"stdin-{sha256_hex(content)[:12]}.txt"


async def _work_through(run: Run) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(UNDER_WAY):
            group.create_task(_worker(run), name=f"upload-{number}")
    if run.fatal:
        raise run.fatal


async def _worker(run: Run) -> None:
    for source in run.todo:  # shared by all workers; each takes the next
        if run.fatal:
            return
        outcome = await _send(run, source)
        if outcome:
            run.outcomes.append(outcome)
            run.shown.advance(source.name)


async def _send(run: Run, source: Source) -> Outcome | None:
    try:
        content = await asyncio.to_thread(source.read)
        accepted = await run.client.remember(Upload(source.name, content, run.fields))
        item = accepted["items"][0]
        if item.get("is_duplicate"):
            return Outcome(source.name, "unchanged")
        return await _followed(run, source.name, item["job_id"])
    except OSError as exc:
        return Outcome(source.name, "failed", (exc.strerror or "cannot be read").lower())
    except RefusedError as exc:
        if exc.code in _FATAL:
            run.fatal = exc
            return None
        return Outcome(source.name, "failed", str(exc))


async def _followed(run: Run, name: str, job_id: str) -> Outcome:
    if not run.waits:
        return Outcome(name, "accepted")
    while True:
        job = await run.client.job(job_id, wait_s=WAIT_S)
        if job["stage"] in {"searchable", "enriching", "complete"}:
            return Outcome(name, "remembered")
        if job["stage"] in {"failed", "cancelled"}:
            return Outcome(name, "failed", _reason(job))
        run.shown.tell(f"{name}: {how_far(job)}")


def how_far(job: Mapping[str, Any]) -> str:
    """A document is read as a whole; how many passages it has is known after that."""
    done, passages = job["counts"]["done"], job["counts"]["passages"]
    if not passages:
        return "waits" if job["stage"] == "accepted" else "is being read"
    return f"{done:,} of {amount(passages, 'passage')}"


def _reason(job: Mapping[str, Any]) -> str:
    return str(job["error"]["message"]) if job.get("error") else f"cancelled ({job.get('cancelReason')})"


def _show_skipped(skipped: Sequence[Skipped]) -> None:
    for skip in skipped[:SHOWN_SKIPS]:
        note(f"skipped {skip.name}: {skip.reason}")
    if len(skipped) > SHOWN_SKIPS:
        note(f"skipped {len(skipped) - SHOWN_SKIPS} more")


def _summarise(outcomes: Sequence[Outcome], skipped: int, elapsed_s: float) -> int:
    counts = Counter(outcome.result for outcome in outcomes)
    for outcome in outcomes:
        if outcome.result == "failed":
            note(f"failed {outcome.name}: {outcome.reason}")
    words: dict[Result, str] = {
        "remembered": "remembered",
        "accepted": "accepted",
        "unchanged": "already there",
        "failed": "failed",
    }
    parts = [f"{counts[key]} {word}" for key, word in words.items() if counts[key]]
    parts += [f"{skipped} skipped"] if skipped else []
    say(f"{', '.join(parts) or 'nothing to remember'} ({elapsed_s:.1f} s)")
    return 1 if counts["failed"] or not outcomes else 0
