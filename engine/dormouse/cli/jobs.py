"""`dormouse jobs`: what became of what was handed over."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dormouse.cli.connection import connected
from dormouse.cli.terminal import note, say


async def jobs(job: str, datasets: Sequence[str], stages: Sequence[str], limit: int, *, as_json: bool) -> int:
    """One job in full, or the newest. Returns the exit code."""
    async with connected() as client:
        if job:
            found = [await client.job(job)]
        else:
            answer = await client.jobs({"dataset": list(datasets), "stage": list(stages), "limit": limit})
            found = answer["jobs"]
        names = {} if as_json else {row["id"]: row["name"] for row in await client.datasets()}
    if as_json:
        say(json.dumps(found[0] if job else found, indent=2))
        return 0
    for row in found:
        say(line(row, names.get(row["datasetId"], "")))
    if not found:
        note("no jobs")
    for step in found[0]["steps"] if job else ():
        say(f"  {step['at']}  {step['stage']}")
    return 0


def line(job: Mapping[str, Any], dataset: str) -> str:
    """Id, time, kind, dataset, stage, counts, and what is wrong if something is."""
    counts = job["counts"]
    size = f"{counts['done']}/{counts['passages']} passages" if counts["passages"] else ""
    error = job.get("error") or {}
    trouble = error.get("message") or job.get("parkedReason") or job.get("cancelReason") or ""
    duplicate = "already there" if job.get("isDuplicate") else ""
    accepted = f"{str(job['acceptedAt'])[:19]}Z"
    place = f"[{dataset}]" if dataset else ""  # a forgotten one has no name any more
    parts = (job["id"], accepted, job["kind"], place, job["stage"], size, duplicate, trouble)
    return "  ".join(str(part) for part in parts if part)
