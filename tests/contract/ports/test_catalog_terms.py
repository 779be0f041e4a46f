from dormouse.ids import TermId
from dormouse.ports.catalog.terms import TermCounts
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import A_DATASET, A_PRINCIPAL, A_WORKSPACE
from tests.contract.ports.catalog_samples import a_stored_dataset

CAT, DOG, EEL = TermId(1), TermId(2**62), TermId(3)


async def test_counts_add_up_over_datasets(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        other = await tx.datasets.ensure(A_WORKSPACE, A_PRINCIPAL, "other")
        await tx.terms.add(A_DATASET, 0, 3, {CAT: 2, DOG: 1})
        await tx.terms.add(A_DATASET, 0, 1, {CAT: 1})
        await tx.terms.add(other.id, 0, 5, {CAT: 4, EEL: 1})

        both = await tx.terms.counts([A_DATASET, other.id], [CAT, DOG])
        one = await tx.terms.counts([A_DATASET], [CAT, EEL])

    assert both == TermCounts(9, {CAT: 7, DOG: 1})
    assert one == TermCounts(4, {CAT: 3})


async def test_a_dataset_that_is_not_asked_about_counts_for_nothing(catalog: Catalog) -> None:
    """P5: no foreign dataset moves a caller's weights."""
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.terms.add(A_DATASET, 0, 3, {CAT: 2})

        assert await tx.terms.counts([], [CAT]) == TermCounts(0, {})
        assert await tx.terms.counts([A_DATASET], []) == TermCounts(3, {})


async def test_what_falls_to_zero_goes(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.terms.add(A_DATASET, 0, 3, {CAT: 2, DOG: 1})
        await tx.terms.add(A_DATASET, 0, -2, {CAT: -1, DOG: -1})
        assert await tx.terms.counts([A_DATASET], [CAT, DOG]) == TermCounts(1, {CAT: 1})

        await tx.terms.add(A_DATASET, 0, -1, {CAT: -1})
        assert await tx.terms.counts([A_DATASET], [CAT, DOG]) == TermCounts(0, {})


async def test_only_the_current_generation_counts(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.terms.add(A_DATASET, 0, 3, {CAT: 2})
        await tx.terms.add(A_DATASET, 1, 5, {CAT: 4})
        assert await tx.terms.counts([A_DATASET], [CAT]) == TermCounts(3, {CAT: 2})

        await tx.datasets.forget(A_DATASET)
        assert await tx.terms.counts([A_DATASET], [CAT]) == TermCounts(5, {CAT: 4})

        await tx.terms.drop_below(A_DATASET, 1)
        assert await tx.terms.counts([A_DATASET], [CAT]) == TermCounts(5, {CAT: 4})


async def test_a_large_part_is_counted_at_once(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    deltas = {TermId(number): 1 for number in range(10_000)}
    async with catalog.transaction() as tx:
        await tx.terms.add(A_DATASET, 0, 200, deltas)
        await tx.terms.add(A_DATASET, 0, 200, deltas)
        counts = await tx.terms.counts([A_DATASET], list(deltas)[:1_500])

    assert counts == TermCounts(400, {TermId(number): 2 for number in range(1_500)})


async def test_terms_are_told_in_pages_of_the_current_generation(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.terms.add(A_DATASET, 0, 3, {CAT: 2, DOG: 1, EEL: 5})
        await tx.terms.add(A_DATASET, 1, 3, {TermId(9): 2})

        first = await tx.terms.page(A_DATASET, None, 2)
        rest = await tx.terms.page(A_DATASET, first[-1][0], 2)

    assert (first, rest) == ([(CAT, 2), (EEL, 5)], [(DOG, 1)])
