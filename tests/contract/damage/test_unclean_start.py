"""A store that lost what it had acknowledged: noticed at the start, and mended from the applied changes."""

import asyncio
import os
import shutil
import signal
from pathlib import Path

import pytest

from dormouse import compose
from dormouse.adapters.vector_store.edge_collections import EdgeCollections
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE
from dormouse.compose import LOCAL_PRINCIPAL
from dormouse.engine import Engine
from dormouse.model.document import Content
from dormouse.model.job import Stage
from dormouse.settings import EngineSettings

JOURNAL = Path("vectors") / "memories" / "journal"
NOTES = ("Lin lives in Hanoi.", "Omar reads the tides.", "Tove came by ferry.")


async def remember(engine: Engine, text: str) -> None:
    scope = await engine.scope_of(LOCAL_PRINCIPAL)
    receipt = await engine.remember(scope, "notes", Content(body=text.encode()))
    scope = await engine.scope_of(LOCAL_PRINCIPAL)
    assert (await engine.wait(scope, receipt.job.id, until="final", budget_s=60.0)).stage is Stage.COMPLETE


async def counts(folder: Path) -> tuple[int, int, int]:
    """Passages, points and counted passages, once everything that a start found lacking is there."""
    async with compose.open_ports(EngineSettings(data_dir=folder)) as ports:
        engine = compose.assemble(ports)
        async with engine.running():
            scope = await engine.scope_of(LOCAL_PRINCIPAL)
            async with asyncio.timeout(60):
                while True:
                    async with ports.catalog.reading() as tx:
                        if not await tx.history.rebuilds(scope.workspace):
                            break
                    await asyncio.sleep(0.02)  # another loop's work sets no event
        async with ports.catalog.reading() as tx:
            counted = await tx.terms.counts(scope.readable, [])
        passages = (await ports.graph.count(scope)).passages
        return passages, await ports.vectors.count(scope), counted.passages


async def fill_and_kill(folder: Path) -> None:
    """Three more notes, and the process of the vectors dies before it flushed them."""
    async with compose.open_ports(EngineSettings(data_dir=folder)) as ports:
        engine = compose.assemble(ports)
        async with engine.running():
            for text in NOTES:
                await remember(engine, text)
        assert isinstance(ports.collections, EdgeCollections)
        process = ports.collections._active.store._opened._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def flip_a_byte(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX's")
async def test_a_bad_record_no_longer_hides_those_behind_it(folder: Path) -> None:
    await fill_and_kill(folder)
    flip_a_byte(folder / JOURNAL, 20)

    assert await counts(folder) == (4, 4, 4)


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX's")
async def test_a_lost_journal_is_made_good(folder: Path) -> None:
    await fill_and_kill(folder)
    (folder / JOURNAL).unlink()

    assert await counts(folder) == (4, 4, 4)


async def test_an_older_graph_catches_up(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "graph.sqlite3", tmp_path / "older")
    async with compose.open_engine(EngineSettings(data_dir=folder)) as engine, engine.running():
        for text in NOTES:
            await remember(engine, text)
    (tmp_path / "older").replace(folder / "graph.sqlite3")

    assert await counts(folder) == (4, 4, 4)


async def test_a_clean_start_has_nothing_to_follow(folder: Path) -> None:
    async with compose.open_ports(EngineSettings(data_dir=folder)) as ports, ports.catalog.reading() as tx:
        assert await tx.history.rebuilds(LOCAL_WORKSPACE) == []
