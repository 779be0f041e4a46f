"""Nothing that was acknowledged is lost or doubled, whoever is killed at whatever moment.

`DORMOUSE_TEST_WRITES` says how many writes there are, and `DORMOUSE_TEST_SEED` which seed is used.
"""

import itertools
import json
import os
import random
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from tests.contract.program import Program
from tests.promises import promise
from tests.real.disorder import Kept, kept_running, killing
from tests.toolchain.server_process import free_port
from tests.toolchain.stack import Stack, prepared

WRITES = int(os.environ.get("DORMOUSE_TEST_WRITES", "60"))
SEED = int(os.environ.get("DORMOUSE_TEST_SEED", "1"))
KILL_EVERY_S = (2.0, 6.0)
TRY_S = 240.0
SETTLE_S = 600.0
REPAIR_S = 90.0
_FINAL = {"complete", "failed", "cancelled"}


class Memory:
    """What was written to it through any gateway that answers, and what must be there at the end."""

    def __init__(self, gateways: list[httpx.Client], threads: ThreadPoolExecutor) -> None:
        self._gateways = itertools.cycle(gateways)
        self.there: dict[str, str] = {}
        self.gone: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        self.jobs: list[str] = []
        self.forgetting: list[Future[list[str]]] = []
        self._threads = threads

    def ask(self, method: str, path: str, **request: Any) -> httpx.Response:  # noqa: ANN401 - httpx knows them
        """The first answer of any gateway that is one; a repetition is made safe by its key."""
        end = time.monotonic() + TRY_S
        while True:
            gateway = next(self._gateways)
            try:
                answer = gateway.request(method, path, **request)
                if answer.status_code < 500 and answer.status_code != 429:
                    return answer
                words = answer.text[:300]
            except httpx.HTTPError as exc:
                words = repr(exc)
            assert time.monotonic() < end, f"nobody answers {method} {path}: {words}"
            time.sleep(0.2)

    def remember(self, name: str, text: str, key: str, kind: str) -> None:
        answer = self.ask(
            "POST",
            "/api/v1/remember",
            data={"datasetName": "notes", "run_in_background": "true", "kind": kind},
            files={"data": (name, text.encode())},
            headers={"Idempotency-Key": key},
        )
        assert answer.status_code == 200, answer.text
        (item,) = answer.json()["items"]
        self.there[name] = text
        self.ids[name] = item["id"]
        self.jobs.append(item["job_id"])

    def forget(self, name: str) -> None:
        """Beside what is written next: it answers when everything is erased, or with the job that goes on."""
        self.gone[name] = self.there.pop(name)
        self.forgetting.append(self._threads.submit(self._forgotten, self.ids[name]))

    def _forgotten(self, item: str) -> list[str]:
        answer = self.ask("POST", "/api/v1/forget", json={"dataset": "notes", "data_id": item})
        assert answer.status_code in {200, 202}, answer.text
        return list(answer.json().get("job_ids", ()))

    def stage_of(self, job: str) -> str:
        return str(self.ask("GET", f"/api/v1/jobs/{job}").json()["stage"])


def written(memory: Memory, chance: random.Random, number: int) -> None:
    """One write: a note, a chat, a file, a large one, the same again, or a forget."""
    word = f"harbour{number:04}x"
    note = f"The keeper of {word} is called Ada {number} and lives near lighthouse {number % 7}."
    deeds: list[tuple[int, Callable[[], None]]] = [
        (50, lambda: memory.remember(f"{word}.txt", note, word, "text")),
        (15, lambda: memory.remember(f"{word}.json", _talk(word), word, "chat")),
        (15, lambda: memory.remember(f"{word}.md", f"# {word}\n\n" + f"{note}\n\n" * 60, word, "file")),
        (1, lambda: memory.remember(f"{word}.txt", note + "\n" * (9 << 20), word, "file")),
    ]
    if memory.there:
        known = chance.choice(sorted(memory.there))
        deeds += [
            (10, lambda: memory.remember(known, memory.there[known], f"again {word}", _kind_of(known))),
            (12, lambda: memory.forget(known)),
        ]
    weights, choices = zip(*deeds, strict=True)
    chance.choices(choices, weights)[0]()


def _talk(word: str) -> str:
    return json.dumps([{"speaker": "Ada", "text": f"Line {line} of {word}."} for line in range(5)])


def _kind_of(name: str) -> str:
    return {".json": "chat", ".md": "file"}.get(Path(name).suffix, "text")


@promise("P1")
@promise("P3")
@promise("P8")
def test_whoever_is_killed_nothing_is_lost_and_nothing_comes_twice(stack: Stack, tmp_path: Path) -> None:
    program = Program(tmp_path / "unused", stack.settings())
    prepared(program.environment)
    ports = [free_port(), free_port()]
    kept = [Kept(program, ("serve", "--port", str(port))) for port in ports]
    kept += [Kept(program, ("worker", "--role", role)) for role in ("extract", "apply", "all")]
    chance = random.Random(SEED)
    with ExitStack() as held:
        gateways = [held.enter_context(_client(port)) for port in ports]
        held.enter_context(kept_running(kept))
        memory = Memory(gateways, held.enter_context(ThreadPoolExecutor(8)))
        memory.ask("GET", "/readyz")
        with killing(stack, kept, SEED, KILL_EVERY_S) as killed:
            for number in range(WRITES):
                written(memory, chance, number)
        _settled(memory)

        items = memory.ask("GET", "/api/v1/datasets/notes/data", params={"limit": 1000}).json()
        assert sorted(item["name"] for item in items) == sorted(memory.there), (SEED, killed)
        assert all(item["isSearchable"] for item in items), (SEED, killed)
        report = _audited(memory)
        if {finding["code"] for finding in report["findings"]} == {"leftover"}:
            # A known fault: a graph that is killed while it erases may keep rows that a repair then removes.
            memory.ask("POST", "/api/v1/repair")
            report = _audited(memory)
        assert report["findings"] == [], (SEED, killed)
        assert (report["isSound"], report["documents"]) == (True, len(memory.there)), (SEED, killed, report)
        lying = json.dumps(stack.neo4j.run("MATCH (n:Passage) RETURN n.text"))
        contents, bells = _bytes_under(stack.s3.buckets), _bytes_under(stack.kafka.folder / "data")
        for name in memory.gone:
            word = Path(name).stem
            assert word not in lying, (SEED, killed, name)
            assert word.encode() not in contents, (SEED, killed, name)
            assert word.encode() not in bells, (SEED, killed, name)
        for name in memory.there:
            assert Path(name).stem in lying, (SEED, killed, name)


def _audited(memory: Memory) -> dict[str, Any]:
    """Sound, or as it stays: a call that outlived its lease is repaired by its successor, after receipts."""
    end = time.monotonic() + REPAIR_S
    while True:
        report: dict[str, Any] = memory.ask("GET", "/api/v1/audit").json()
        if report["isSound"] or time.monotonic() > end:
            return report
        time.sleep(1)


def _bytes_under(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def _client(port: int) -> httpx.Client:
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=70, trust_env=False)


def _settled(memory: Memory) -> None:
    """Every receipt ends; what was forgotten meanwhile may end as cancelled."""
    end = time.monotonic() + SETTLE_S
    erasing = [job for each in memory.forgetting for job in each.result(SETTLE_S)]
    waiting = list(dict.fromkeys([*memory.jobs, *erasing]))
    stages: dict[str, str] = {}
    while waiting:
        stages |= {job: memory.stage_of(job) for job in waiting}
        waiting = [job for job in waiting if stages[job] not in _FINAL]
        assert time.monotonic() < end, (SEED, [stages[job] for job in waiting])
        time.sleep(0.5)
    assert set(stages.values()) <= {"complete", "cancelled"}, (SEED, stages)
