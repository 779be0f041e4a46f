"""`dormouse jobs`: what became of what was handed over."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dormouse.adapters.remote.rest import RestClient
from dormouse.cli.connection import connected
from dormouse.cli.terminal import note, say


async def listing(datasets: Sequence[str], stages: Sequence[str], limit: int, *, as_json: bool) -> int:
    """The newest ones. Returns the exit code."""
    async with connected() as client:
        answer = await client.jobs({"dataset": list(datasets), "stage": list(stages), "limit": limit})
        await _tell(client, answer["jobs"], as_json=as_json)
    return 0


async def show(job: str, *, as_json: bool) -> int:
    """One in full, with the steps it went through."""
    async with connected() as client:
        found = await client.job(job)
        if as_json:
            say(json.dumps(found, indent=2))
            return 0
        await _tell(client, [found], as_json=False)
    for step in found["steps"]:
        say(f"  {step['at']}  {step['stage']}")
    for told in details(found):
        say(f"  {told}")
    return 0


async def retry(job: str, *, as_json: bool) -> int:
    """The new job that tries the content of a failed one again."""
    async with connected() as client:
        await _tell(client, [await client.retry_job(job)], as_json=as_json)
    return 0


async def cancel(job: str, *, as_json: bool) -> int:
    async with connected() as client:
        await _tell(client, [await client.cancel_job(job)], as_json=as_json)
    return 0


async def _tell(client: RestClient, jobs: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    if as_json:
        say(json.dumps(list(jobs), indent=2))
        return
    names = {row["id"]: row["name"] for row in await client.datasets()}
    for row in jobs:
        say(line(row, names.get(row["datasetId"], "")))
    if not jobs:
        note("no jobs")


def details(job: Mapping[str, Any]) -> Iterator[str]:
    """What it counted, and why a language model's part is missing."""
    counts = [f"{name} {number}" for name, number in job["counts"].items() if number]
    if counts:
        yield ", ".join(counts)
    if job.get("enrichmentError"):
        yield f"searchable, but nothing derived by the language model: {job['enrichmentError']['message']}"
        yield f"once that is mended, `dormouse jobs retry {job['id']}` asks it again"


def line(job: Mapping[str, Any], dataset: str) -> str:
    """Id, time, kind, dataset, item, stage, counts, and what is wrong if something is."""
    counts = job["counts"]
    size = f"{counts['done']}/{counts['passages']} passages" if counts["passages"] else ""
    error = job.get("error") or {}
    trouble = error.get("message") or job.get("parkedReason") or job.get("cancelReason") or ""
    duplicate = "already there" if job.get("isDuplicate") else ""
    accepted = f"{str(job['acceptedAt'])[:19]}Z"
    place = f"[{dataset}]" if dataset else ""  # a forgotten one has no name any more
    name = job.get("documentName") or ""
    parts = (job["id"], accepted, job["kind"], place, name, job["stage"], size, duplicate, trouble)
    return "  ".join(str(part) for part in parts if part)
