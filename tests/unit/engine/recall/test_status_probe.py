import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import cast

import pytest
from hypothesis import given

from dormouse.errors import CatalogUnavailableError
from dormouse.model.job import Job, Stage
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.recall.status_probe import BUDGET_S, Verdict, judge, probe
from tests.builders import A_DATASET, a_job, some_jobs


class SabotagedCatalog:
    """Reading it stalls for ever, or fails."""

    def __init__(self, failure: Exception | None = None) -> None:
        self._failure = failure

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[CatalogTransaction]:
        if self._failure:
            raise self._failure
        await asyncio.Event().wait()
        yield cast("CatalogTransaction", None)


def as_catalog(saboteur: SabotagedCatalog) -> Catalog:
    return cast("Catalog", saboteur)


def test_work_in_flight_outranks_an_earlier_failure() -> None:
    verdict = judge([a_job(Stage.FAILED), a_job(Stage.APPLYING, done=2, total=5)])

    assert verdict == Verdict("indexing", done=2, total=5)


def test_enrichment_is_not_indexing() -> None:
    assert judge([a_job(Stage.ENRICHING, done=5, total=5), a_job(Stage.SEARCHABLE)]) == Verdict("none")


def test_a_failed_build_is_told() -> None:
    assert judge([a_job(Stage.COMPLETE), a_job(Stage.FAILED)]) == Verdict("build_failed")


@pytest.mark.parametrize("latest", [[], [a_job(Stage.COMPLETE)], [a_job(Stage.CANCELLED)]])
def test_nothing_under_way_is_nothing(latest: Sequence[Job]) -> None:
    assert judge(latest) == Verdict("none")


@given(some_jobs())
def test_the_order_of_jobs_never_changes_the_verdict(jobs: list[Job]) -> None:
    assert judge(jobs) == judge(jobs[::-1])


@pytest.mark.virtual_time
async def test_a_silent_catalog_cannot_hold_the_caller() -> None:
    """Contract: the budget ends the probe. The loop's clock is virtual, nobody waits."""
    verdict = await probe(as_catalog(SabotagedCatalog()), [A_DATASET])

    assert verdict == Verdict("timeout")
    assert asyncio.get_running_loop().time() == pytest.approx(BUDGET_S)


async def test_a_sick_catalog_is_an_outcome() -> None:
    catalog = SabotagedCatalog(CatalogUnavailableError("the catalog does not answer"))

    assert await probe(as_catalog(catalog), [A_DATASET]) == Verdict("error")
