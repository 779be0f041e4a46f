"""An empty recall on the real stores while the job ledger hangs: the contract gives its probe five seconds."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from dormouse import compose
from dormouse.ids import PrincipalId
from dormouse.model.recall import RecallRequest
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.recall.status_probe import BUDGET_S
from dormouse.settings import EngineSettings, read
from tests.seen_telemetry import SeenTelemetry

GENEROUS_S = 5.0  # beyond the budget, for a busy machine


class SilentLedger:
    """Hangs when asked for unfinished jobs."""

    async def unfinished_or_latest_of(self, datasets: object) -> None:
        await asyncio.Event().wait()


class CatalogWithSilentLedger:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.transaction, self.close = catalog.transaction, catalog.close
        self.read, self.write = catalog.read, catalog.write

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[CatalogTransaction]:
        async with self._catalog.reading() as tx:
            tx.jobs = SilentLedger()  # type: ignore[assignment]  # a saboteur of the one method that is asked
            yield tx


async def test_a_hanging_ledger_costs_the_probe_its_budget_and_the_caller_nothing_more(
    tmp_path: Path, telemetry_seen: SeenTelemetry
) -> None:
    async with compose.open_ports(read(EngineSettings, {"DORMOUSE_DATA_DIR": str(tmp_path)})) as ports:
        silent = CatalogWithSilentLedger(ports.catalog)
        engine = compose.assemble(replace(ports, catalog=silent))  # type: ignore[arg-type]  # only what is used
        scope = await engine.scope_of(PrincipalId("local"))
        began = time.monotonic()

        result = await engine.recall(scope, RecallRequest("Where is the tea?"))

    assert result.outcome == "none"
    assert BUDGET_S <= time.monotonic() - began < BUDGET_S + GENEROUS_S
    (span,) = telemetry_seen.spans("recall.status_probe")
    assert span.attributes is not None
    assert (span.attributes["budget_ms"], span.attributes["outcome"]) == (5000, "timeout")
