"""SIGKILL before and after every named step of the real server; memory must come out whole.

Two hundred writes and more: each acknowledged one has a final receipt, is there once or is forgotten for good,
in every store and on disk. The seed is in the name of the test's parameter; the same seed kills the same way.
"""

import asyncio
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dormouse import compose
from dormouse.settings import read
from dormouse_gateway.settings import GatewaySettings
from tests.contract.crash.agreement import disagreements
from tests.contract.crash.deeds import DATASETS, Deed, Expected, next_deed
from tests.contract.crash.harness import Life, ServerDiedError, send
from tests.contract.crash.kill_points import STEPS, KillPoint
from tests.promises import promise

DEEDS, MOST_DEEDS, DEEDS_A_LIFE = 200, 400, 10
WAITS = 3  # of 50 s
FINAL = {"complete", "failed", "cancelled"}
EARLY = {
    "catalog.commit": 25,
    "bus.ring_apply": 6,
    "blobs.put": 8,
}  # the latest call that is still soon reached


@dataclass(slots=True)
class Run:
    """What is still to be killed, what was done, and who serves now."""

    folder: Path
    dice: random.Random
    points: list[KillPoint]
    expected: Expected = field(default_factory=Expected)
    fired: set[str] = field(default_factory=set)
    life: Life | None = None
    deeds_of_life: int = 0

    def alive(self) -> Life:
        """The server, started anew if it died; those that die before they are ready count as well."""
        while self.life is None:
            point = self.points.pop(0) if self.points else None
            self.deeds_of_life = 0
            try:
                self.life = Life(self.folder, point, self.folder.parent / "server.log")
            except ServerDiedError:
                self.note(point)
        return self.life

    def died(self) -> None:
        assert self.life
        assert self.life.was_killed(), "the server ended by itself"
        self.note(self.life.point)
        self.life = None

    def note(self, point: KillPoint | None) -> None:
        assert point, "the server ended by itself"
        self.fired.add(f"{point.step}:{point.when}")

    def spare(self) -> None:
        """A step that was not reached is tried again later, at its first call."""
        if self.life and self.deeds_of_life > DEEDS_A_LIFE and self.life.point:
            self.life.kill()
            self.points.append(KillPoint(self.life.point.step, self.life.point.when, 1))
            self.life = None

    def do(self, deed: Deed) -> None:
        """Until it is acknowledged, whatever happens to the servers meanwhile."""
        while True:
            try:
                jobs, document = send(self.alive(), deed)
            except ServerDiedError:
                self.died()
                continue
            self.deeds_of_life += 1
            self.expected.jobs += jobs
            self.expected.done(deed, document)
            return


def all_points(dice: random.Random) -> list[KillPoint]:
    points = [
        KillPoint(step, when, dice.randint(1, EARLY.get(step, 3)))
        for step in STEPS
        for when in ("before", "after")
    ]
    dice.shuffle(points)
    return points


@pytest.fixture
def run(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Run]:
    dice = random.Random(request.param)
    made = Run(tmp_path / "data folder", dice, all_points(dice))
    yield made
    if made.life:
        made.life.kill()


@promise("P1")
@promise("P3")
@promise("P4")
@promise("P8")
@pytest.mark.parametrize("run", [20261130], indirect=True, ids=["seed-20261130"])
def test_nothing_acknowledged_is_lost_doubled_or_resurrected_by_kills(run: Run) -> None:
    number = 0
    while number < DEEDS or (len(run.fired) < 2 * len(STEPS) and number < MOST_DEEDS):
        run.do(next_deed(number, run.dice, run.expected))
        run.spare()
        number += 1
    assert {f"{step}:{when}" for step in STEPS for when in ("before", "after")} == run.fired

    life = run.alive()

    assert _receipts(life, run.expected.jobs) <= FINAL
    _settle(life)
    _check_recall(life, run.expected)
    assert life.stop() == 0
    run.life = None
    assert asyncio.run(_disagreements(run.folder)) == []
    assert _on_disk(run.folder, run.expected.gone) == set()


def _receipts(life: Life, jobs: list[str]) -> set[str]:
    """Every job's last stage, each waited for."""
    return {_stage(life, job) for job in jobs}


def _stage(life: Life, job: str) -> str:
    stage = ""
    for _ in range(WAITS):
        reply = life.call("GET", f"/api/v1/jobs/{job}", params={"wait": "50"})
        assert reply.status_code == 200, reply.text
        stage = str(reply.json()["stage"])
        if stage in FINAL:
            break
    return stage


def _settle(life: Life) -> None:
    """The forgets' own jobs too."""
    for job in life.call("GET", "/api/v1/jobs", params={"limit": "200"}).json()["jobs"]:
        assert _stage(life, job["id"]) in FINAL


def _check_recall(life: Life, expected: Expected) -> None:
    for item in expected.live.values():
        times = 0 if item.document in expected.hidden else 1
        assert _shown(life, item.token, item.dataset) == times, f"{item.token} in {item.dataset}"
    for token in expected.gone:
        assert [_shown(life, token, dataset) for dataset in DATASETS] == [0, 0, 0]


def _shown(life: Life, token: str, dataset: str) -> int:
    """How many hits show the token; a dataset that is gone shows none."""
    body = {"query": token, "datasets": [dataset], "searchType": "CHUNKS", "topK": 100}
    reply = life.call("POST", "/api/v1/recall", json=body)
    if reply.status_code == 404:
        return 0
    assert reply.status_code == 200, reply.text
    return sum(token in str(entry.get("text", "")) for entry in reply.json())


async def _disagreements(folder: Path) -> list[str]:
    settings = read(GatewaySettings, {"DORMOUSE_DATA_DIR": str(folder)})
    async with compose.open_ports(settings) as ports:
        return await disagreements(ports)


def _on_disk(folder: Path, tokens: set[str]) -> set[str]:
    contents = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return {token for token in tokens if any(token.encode() in content for content in contents)}
