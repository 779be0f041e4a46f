"""Writes: how long accepting takes against one durable row, and how soon a note is found during a bulk load.

Accepting is timed twice: each note once the one before is searchable, and notes in a row, while the ones
before are still being worked on.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from load.bench.client import Answered, Client
from load.bench.measured import at, head, late, middle, row
from load.bench.options import Options
from load.bench.processes import Running, bare, dormouse
from load.bench.synthetic import document, lines

NOTES = 100
WARM_UP = 10
DATASET = "bench"
LARGE_DOCUMENTS, LARGE_WORDS = 3, 15_000
NOTE_EVERY_S = 0.5
SEARCHABLE_WITHIN_S = 600.0
_UNDER_WAY = ("accepted", "extracting", "applying")
_MCP = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}

Send = Callable[[Client, str], Answered]


async def run(options: Options) -> None:  # noqa: ARG001  every subject takes them
    _accepting()
    print()
    _freshness()


def _accepting() -> None:
    with tempfile.TemporaryDirectory() as folder, bare(Path(folder)) as server, Client(server.url) as client:
        durable = _times(client, _row, lambda _answered: None)
    head("accepting a note", "median ms", "95 % ms", "95 % against one row")
    row("FastAPI and one durable row", middle(durable), late(durable), 1.0)
    with tempfile.TemporaryDirectory() as folder, dormouse(Path(folder)) as server:
        for name, send in (("REST remember", _by_rest), ("MCP remember", _by_mcp)):
            with Client(server.url) as client, Client(server.url) as other:
                alone = _times(client, send, partial(_settled, other))
                row(f"{name}, one at a time", middle(alone), late(alone), late(alone) / late(durable))
                many = _times(client, send, lambda _answered: None)
                row(f"{name}, in a row", middle(many), late(many), late(many) / late(durable))
                _until_quiet(other)


def _freshness() -> None:
    with tempfile.TemporaryDirectory() as folder, dormouse(Path(folder)) as server:
        with Client(server.url) as client:
            quiet = [_took_ms(_searchable(client, _job(_by_rest(client, text)))) for text in lines(20, seed=3)]
        during = list(_during_bulk(server))
    head("accepted to searchable, one note", "notes", "median ms", "95 % ms", "worst ms")
    for name, times in (("alone", quiet), ("while three large documents are taken in", during)):
        row(name, len(times), middle(times), late(times), at(times, 1.0), digits=0)


def _during_bulk(server: Running) -> Iterator[float]:
    """A note every half second for as long as the documents are not searchable."""
    texts = iter(lines(5_000, seed=4))
    with Client(server.url) as client:
        jobs = [_job(_by_rest(client, document(LARGE_WORDS, seed=seed))) for seed in range(LARGE_DOCUMENTS)]
        sent = []
        while any(client.get(f"/api/v1/jobs/{job}")["searchableAt"] is None for job in jobs):
            sent.append(_job(_by_rest(client, next(texts))))
            time.sleep(NOTE_EVERY_S)
        for job in sent:
            yield _took_ms(_searchable(client, job))


def remember_all(client: Client, texts: Sequence[str]) -> None:
    """Until each can be found."""
    jobs = [_job(_by_rest(client, text)) for text in texts]
    for job in jobs:
        _searchable(client, job)


def _times(client: Client, send: Send, settle: Callable[[Answered], None]) -> list[float]:
    times = []
    for text in lines(WARM_UP + NOTES, seed=time.perf_counter_ns()):
        answered = send(client, text)
        times.append(answered.took_ms)
        settle(answered)
    return times[WARM_UP:]


def _row(client: Client, text: str) -> Answered:
    return client.post("/rows", {"text": text})


def _by_rest(client: Client, text: str) -> Answered:
    return client.post_form(
        "/api/v1/remember", {"datasetName": DATASET, "run_in_background": "true", "raw_data": text}
    )


def _by_mcp(client: Client, text: str) -> Answered:
    arguments = {"data": text, "dataset_name": DATASET, "background": True}
    call = {"name": "remember", "arguments": arguments}
    return client.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}, _MCP)


def _job(answered: Answered) -> str:
    """Of either answer: a tool's is wrapped in the protocol."""
    said = answered.json
    job: str = said["result"]["structuredContent"]["job_id"] if "result" in said else said["items"][0]["job_id"]
    return job


def _settled(client: Client, answered: Answered) -> None:
    _searchable(client, _job(answered))


def _searchable(client: Client, job: str) -> dict[str, str]:
    deadline = time.monotonic() + SEARCHABLE_WITHIN_S
    while time.monotonic() < deadline:
        view: dict[str, str] = client.get(f"/api/v1/jobs/{job}?wait=30")
        if view["searchableAt"] is not None:
            return view
    raise RuntimeError(f"job {job} was not searchable in time")


def _until_quiet(client: Client) -> None:
    while client.get(f"/api/v1/jobs?limit=1&{'&'.join(f'stage={stage}' for stage in _UNDER_WAY)}")["jobs"]:
        time.sleep(0.2)


def _took_ms(view: dict[str, str]) -> float:
    accepted, searchable = (datetime.fromisoformat(view[name]) for name in ("acceptedAt", "searchableAt"))
    return (searchable - accepted) / timedelta(milliseconds=1)
