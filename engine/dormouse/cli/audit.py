"""`dormouse audit` and `dormouse doctor --repair`: whether all stores tell the same, and putting it right."""

import json
from collections.abc import Mapping
from typing import Any

from dormouse.cli.connection import connected
from dormouse.cli.terminal import amount, note, say

UNSOUND = 1


async def audit(*, as_json: bool) -> int:
    """Returns the exit code: 0 when all is sound, 1 when anything drifted."""
    async with connected() as client:
        report = await client.audit()
    if as_json:
        say(json.dumps(report, indent=2))
    else:
        _show(report)
        if any(each["isRepairable"] for each in report["findings"]):
            note("`dormouse doctor --repair` puts right what can be")
    return 0 if report["isSound"] else UNSOUND


async def repair(*, as_json: bool) -> int:
    """Returns the exit code: 0 when all is sound afterwards."""
    async with connected() as client:
        done = await client.repair()
    if as_json:
        say(json.dumps(done, indent=2))
        return 0 if done["after"] and done["after"]["isSound"] else UNSOUND
    for finding in done["before"]["findings"]:
        say(f"found {line(finding)}")
    if done["after"] is None:
        note("repairs were accepted and go on; `dormouse audit` tells what is left")
        return UNSOUND
    say(f"{amount(len(done['jobs']), 'repair')} done")
    _show(done["after"])
    return 0 if done["after"]["isSound"] else UNSOUND


def line(finding: Mapping[str, Any]) -> str:
    """`point_missing: 3 in item ID: what it means`."""
    item, dataset = finding["documentId"], finding["datasetId"]
    place = f" in item {item}" if item else f" in dataset {dataset}" if dataset else ""
    return f"{finding['code']}: {finding['count']}{place}: {finding['meaning']}"


def _show(report: Mapping[str, Any]) -> None:
    for finding in report["findings"]:
        say(line(finding))
    for dataset in report["unsettledDatasets"]:
        note(f"dataset {dataset} was written to all the while; ask again")
    if report["isSound"]:
        looked = f"{amount(report['documents'], 'document')}, {amount(report['passages'], 'passage')}"
        say(f"{looked}: all stores tell the same")
