"""A server that is killed with SIGKILL while it makes its stores anew, again and again at other moments.

Each start goes on where the one before was; in the end everything is as it was. The seed is in the name of the
test's parameter.
"""

import random
import threading
from pathlib import Path

import pytest

from tests.contract.program import Program, kill, wait_until

KILLS = 3
LATEST_S = 1.5  # a rebuild of this size takes about a second
ITEMS, PASSAGES_AN_ITEM = 12, 12


@pytest.mark.promise("P1")
@pytest.mark.parametrize("seed", [20261201], ids=["seed-20261201"])
def test_a_rebuild_that_is_killed_again_and_again_ends_with_the_same_memory(tmp_path: Path, seed: int) -> None:
    program, moments = Program(tmp_path / "data folder"), random.Random(seed)
    files = _written(tmp_path / "files")
    try:
        with program.serving():
            remembered = program.run("remember", str(files))
            assert remembered.returncode == 0, remembered.stderr
            before = _exported(program)

        hits = [_killed_after(program, moments.uniform(0, LATEST_S)) for _ in range(KILLS)]

        assert any(hits), "no kill came while it rebuilt"
        with program.serving():
            wait_until(lambda: not _rebuilds(program))
            audited = program.run("audit")
            assert audited.returncode == 0, audited.stdout + audited.stderr
            assert _exported(program) == before
    finally:
        program.end()


def _written(folder: Path) -> Path:
    folder.mkdir()
    for item in range(ITEMS):
        said = [
            f"## Visit {item}.{number}\n\nAda met Grace at harbour {item} on day {number}.\n"
            for number in range(PASSAGES_AN_ITEM)
        ]
        (folder / f"visits-{item}.md").write_text("\n".join(said))
    return folder


def _killed_after(program: Program, pause_s: float) -> bool:
    """Whether the server was still at a rebuild when it was killed."""
    with program.serving():
        asked = program.start("rebuild", "--yes")
        try:
            wait_until(lambda: _rebuilds(program) or asked.poll() is not None)
            threading.Event().wait(pause_s)
            was_at_it = _rebuilds(program)
            kill(program.address.pid)
            return was_at_it
        finally:
            asked.kill()
            asked.communicate()


def _rebuilds(program: Program) -> bool:
    """Whether a rebuild is accepted and not yet over."""
    with program.client() as client:
        jobs = client.get("/api/v1/jobs", params={"limit": 20}).json()["jobs"]
    return any(job["kind"] == "rebuild" and job["finishedAt"] is None for job in jobs)


def _exported(program: Program) -> str:
    done = program.run("export", "--vectors")
    assert done.returncode == 0, done.stderr
    return done.stdout
