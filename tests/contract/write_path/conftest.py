"""One embedder for the suite; a folder and a clock for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dormouse.adapters.embedder.onnx import OnnxEmbedder
from tests.builders import NOW_MS
from tests.contract.write_path.world import World, opened
from tests.hand_clock import HandClock


@pytest.fixture(scope="session")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder(threads=1)


@pytest.fixture
def clock() -> HandClock:
    return HandClock(NOW_MS)


@pytest.fixture
async def world(tmp_path: Path, clock: HandClock, embedder: OnnxEmbedder) -> AsyncIterator[World]:
    async with opened(tmp_path, clock, embedder) as found:
        yield found
