"""Several processes on one catalog, and processes that die."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from dormouse.adapters.catalog.transaction import SqlCatalog
from dormouse.model.change import Change
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import A_WORKSPACE
from tests.hand_clock import HandClock

REPOSITORY = Path(__file__).parents[3]
DEADLINE_S = 60


@asynccontextmanager
async def a_process(url: str, deed: str, count: int = 1, *, user: int | None = None) -> AsyncIterator[Process]:
    """Killed at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.contract.ports.catalog_process", url, deed, str(count)),
        *([] if user is None else [str(user)]),
        stdout=PIPE,
        cwd=REPOSITORY,
    )
    try:
        async with asyncio.timeout(DEADLINE_S):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def lines_of(process: Process) -> list[str]:
    output, _ = await process.communicate()
    return output.decode().splitlines()


async def stored(catalog: Catalog) -> list[Change]:
    """All changes, in order; nothing is applied in these tests."""
    found: list[Change] = []
    async with catalog.transaction() as tx:
        lease = await tx.workspaces.acquire_lease(A_WORKSPACE, "reader", 60_000)
        assert lease is not None
        while change := await tx.changes.next_unapplied(A_WORKSPACE):
            found.append(change)
            await tx.changes.mark_applied(lease, change.seq)
    return found


async def test_two_processes_lose_no_update_and_leave_no_hole(catalog: Catalog, catalog_url: str) -> None:
    async with a_process(catalog_url, "append", 60) as one, a_process(catalog_url, "append", 60) as two:
        said = await lines_of(one) + await lines_of(two)

    assert sorted(map(int, said)) == list(range(1, 121))
    assert [change.seq for change in await stored(catalog)] == list(range(1, 121))


@pytest.mark.parametrize("acknowledged", [1, 7, 23])
async def test_what_a_killed_process_acknowledged_is_there(
    catalog: Catalog, catalog_url: str, acknowledged: int
) -> None:
    """P8. The kill falls somewhere into the next write, which is there whole or not at all."""
    async with a_process(catalog_url, "append", 10_000) as process:
        assert process.stdout is not None
        for seq in range(1, acknowledged + 1):
            assert await process.stdout.readline() == f"{seq}\n".encode()
        process.kill()
        await process.wait()

    await catalog.check()
    kept = [change.seq for change in await stored(catalog)]
    assert kept == list(range(1, len(kept) + 1))
    assert len(kept) >= acknowledged


async def test_processes_that_migrate_at_once_agree(catalog_url: str, clock: HandClock) -> None:
    async with (
        a_process(catalog_url, "migrate") as one,
        a_process(catalog_url, "migrate") as two,
        a_process(catalog_url, "migrate") as three,
    ):
        said = [await lines_of(process) for process in (one, two, three)]

    assert said == [["migrated"]] * 3
    catalog = SqlCatalog(catalog_url, clock)
    try:
        await catalog.check()
        async with catalog.reading() as tx:
            assert await tx.workspaces.with_due_changes() == []
    finally:
        await catalog.close()
