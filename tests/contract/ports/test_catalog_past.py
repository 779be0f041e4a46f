from dormouse.ids import BlobKey, new_job_id
from dormouse.model.change import ChangeKind
from dormouse.ports.catalog.past import LogStanding
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import A_DATASET, A_DOCUMENT, A_WORKSPACE, a_change
from tests.contract.ports.catalog_samples import a_stored_dataset
from tests.contract.ports.test_catalog_changes import leased

A_BLOB = BlobKey("local/j/h")


async def test_the_standing_of_a_dataset_tells_what_was_applied_and_what_waits(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        assert await tx.past.standing(A_DATASET) == LogStanding(0, 0)
        await tx.changes.append(a_change(part=0))
        await tx.changes.append(a_change(part=1))
        await tx.changes.mark_applied(await leased(tx), 1)

        assert await tx.past.standing(A_DATASET) == LogStanding(highest_applied=1, unapplied=1)


async def test_what_was_applied_to_a_document_comes_in_order_and_only_with_a_change_set(
    catalog: Catalog,
) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        for part in range(3):
            await tx.changes.append(a_change(part=part))
        lease = await leased(tx)
        for seq in (1, 2):
            await tx.changes.name_change_set(lease, seq, A_BLOB)
        for seq in (1, 3):
            await tx.changes.mark_applied(lease, seq)

        found = await tx.past.applied_to(A_DOCUMENT)

    assert [(each.seq, each.change_set) for each in found] == [(1, A_BLOB)]


async def test_the_highest_number_given_is_told_beside_the_log_s_own(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        assert await tx.past.highest(A_WORKSPACE) == (0, 0)
        await tx.changes.append(a_change())

        assert await tx.past.highest(A_WORKSPACE) == (1, 1)


async def test_what_hides_is_decided_anew_when_it_moves_to_the_end(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.changes.append(a_change(kind=ChangeKind.SUPPRESS))
        await tx.changes.append(a_change(kind=ChangeKind.ERASE_DOCUMENT, job=new_job_id()))
        lease = await leased(tx)
        for seq in (1, 2):
            await tx.changes.name_change_set(lease, seq, A_BLOB)

        moved = [await tx.changes.move_to_end(lease, seq) for seq in (1, 2)]

    assert [each.change_set for each in moved] == [None, A_BLOB]
