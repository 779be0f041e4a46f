"""The real server whose waits for a job end only when a file appears: run as a module by the tests."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from dormouse import compose
from dormouse.engine import Engine
from dormouse.ids import JobId
from dormouse.jobs.follow import Goal, Progress
from dormouse.model.job import Job
from dormouse.model.scope import Scope
from dormouse.settings import EngineSettings
from dormouse_gateway.serving import serve_folder

FOLDER = "DORMOUSE_TEST_STALL"
WAITING, RELEASED, CANCELLED = "waiting", "released", "cancelled"


open_engine = compose.open_engine


@asynccontextmanager
async def stalling(settings: EngineSettings) -> AsyncIterator[Engine]:
    async with open_engine(settings) as engine:
        wait = engine.wait

        async def stalled(
            scope: Scope, job: JobId, *, until: Goal, budget_s: float, progress: Progress | None = None
        ) -> Job:
            folder = Path(os.environ[FOLDER])
            (folder / WAITING).touch()
            try:
                if progress:
                    await progress(await engine.job(scope, job))
                while not (folder / RELEASED).exists():  # noqa: ASYNC110 - another process makes the file
                    await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                (folder / CANCELLED).touch()
                raise
            return await wait(scope, job, until=until, budget_s=budget_s, progress=progress)

        engine.wait = stalled  # type: ignore[method-assign]  # a saboteur: it only stalls
        yield engine


if __name__ == "__main__":
    compose.open_engine = stalling
    asyncio.run(serve_folder(os.environ, {}, idle_exit_s=None))
