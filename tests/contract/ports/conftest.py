"""Adapters as fixtures, typed as their ports: one suite runs against each."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dormouse.adapters.catalog.transaction import SqlCatalog
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import NOW_MS
from tests.hand_clock import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock(NOW_MS)


@pytest.fixture(params=["sqlite"])
def catalog_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place where no catalog is yet."""
    assert request.param == "sqlite"
    return f"sqlite:///{tmp_path / 'catalog.db'}"


@pytest.fixture
async def catalog(catalog_url: str, clock: HandClock) -> AsyncIterator[Catalog]:
    """Migrated and empty."""
    opened = SqlCatalog(catalog_url, clock)
    try:
        await opened.migrate()
        yield opened
    finally:
        await opened.close()
