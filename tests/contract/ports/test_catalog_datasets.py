from dataclasses import replace

import pytest

from dormouse.errors import NotFoundError
from dormouse.ids import TermId, new_job_id
from dormouse.model.dataset import DatasetSummary
from dormouse.model.job import JobKind, Stage
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import A_PRINCIPAL, A_WORKSPACE, ANOTHER_DATASET, NOW_MS, a_dataset, a_job
from tests.contract.ports.catalog_samples import a_stored_dataset, store_document
from tests.hand_clock import HandClock


async def test_a_dataset_is_made_once_for_its_owner(catalog: Catalog) -> None:
    made = await a_stored_dataset(catalog)
    again = await a_stored_dataset(catalog)

    assert made == again == a_dataset()


async def test_forgetting_raises_the_generation_and_unlists(catalog: Catalog, clock: HandClock) -> None:
    dataset = await a_stored_dataset(catalog)
    clock.advance(7)
    async with catalog.transaction() as tx:
        forgotten = await tx.datasets.forget(dataset.id)
        await tx.commit()

    assert forgotten == replace(dataset, generation=1, listed=False, updated_ms=NOW_MS + 7)
    async with catalog.reading() as tx:
        assert await tx.datasets.get(dataset.id) == forgotten


async def test_remembering_again_lists_the_same_dataset_in_its_new_generation(catalog: Catalog) -> None:
    dataset = await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.datasets.forget(dataset.id)
        again = await tx.datasets.ensure(A_WORKSPACE, A_PRINCIPAL, dataset.name)

    assert again == replace(dataset, generation=1)


async def test_an_owner_sees_all_by_name_and_nobody_elses(catalog: Catalog) -> None:
    for name in ("b", "a", "c"):
        await a_stored_dataset(catalog, name)
    async with catalog.transaction() as tx:
        hidden = await tx.datasets.ensure(A_WORKSPACE, A_PRINCIPAL, "b")
        await tx.datasets.forget(hidden.id)

        assert [d.name for d in await tx.datasets.owned_by(A_WORKSPACE, A_PRINCIPAL)] == ["a", "b", "c"]


async def test_an_unknown_dataset_is_not_found(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        with pytest.raises(NotFoundError):
            await tx.datasets.get(ANOTHER_DATASET)
        with pytest.raises(NotFoundError):
            await tx.datasets.forget(ANOTHER_DATASET)
        assert await tx.datasets.many([ANOTHER_DATASET]) == []


async def test_more_datasets_than_a_statement_takes_are_found(catalog: Catalog) -> None:
    dataset = await a_stored_dataset(catalog)
    wanted = [*(a_dataset(f"d{number}").id for number in range(1_200)), dataset.id, dataset.id]

    async with catalog.reading() as tx:
        assert await tx.datasets.many(wanted) == [dataset]


async def test_a_summary_counts_the_current_generation_and_all_work_under_way(
    catalog: Catalog, clock: HandClock
) -> None:
    """A forget that is not through is work like any other: whoever waits for quiet must see it."""
    dataset = await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await store_document(tx, "first")
        gone = await store_document(tx, "second")
        await tx.documents.forget(gone.id)
        await tx.jobs.add(a_job(Stage.COMPLETE, id=new_job_id()))
        await tx.jobs.add(a_job(id=new_job_id(), kind=JobKind.FORGET_ITEM))
        await tx.terms.add(dataset.id, 0, 12, {TermId(1): 3})
        assert await tx.datasets.summaries([dataset.id]) == [DatasetSummary(dataset, 1, 12, 3)]

        forgotten = await tx.datasets.forget(dataset.id)
        assert await tx.datasets.summaries([dataset.id]) == [DatasetSummary(forgotten, 0, 0, 3)]


async def test_touching_notes_when_its_content_changed(catalog: Catalog, clock: HandClock) -> None:
    dataset = await a_stored_dataset(catalog)
    clock.advance(3)
    async with catalog.transaction() as tx:
        await tx.datasets.touch(dataset.id)
        assert (await tx.datasets.get(dataset.id)).updated_ms == NOW_MS + 3
