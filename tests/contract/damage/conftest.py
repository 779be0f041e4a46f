"""One folder with memories in it, made once; each test damages a copy."""

import asyncio
import shutil
from pathlib import Path

import pytest

from dormouse import compose
from dormouse.compose import LOCAL_PRINCIPAL
from dormouse.model.document import Content
from dormouse.settings import EngineSettings

TEXT = "Ada moved to Lisbon in March. Her sister Grace stayed in London."


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "data folder"
    asyncio.run(_fill(folder))
    return folder


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "data folder"
    shutil.copytree(sound, copy)
    return copy


async def _fill(folder: Path) -> None:
    async with compose.open_engine(EngineSettings(data_dir=folder)) as engine, engine.running():
        scope = await engine.scope_of(LOCAL_PRINCIPAL)
        receipt = await engine.remember(scope, "notes", Content(body=TEXT.encode(), filename="ada.txt"))
        scope = await engine.scope_of(LOCAL_PRINCIPAL)
        job = await engine.wait(scope, receipt.job.id, until="final", budget_s=60.0)
        assert job.stage.is_searchable
