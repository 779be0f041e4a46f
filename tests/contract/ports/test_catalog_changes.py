from dataclasses import replace

import pytest

from dormouse.errors import ConflictError, LeaseLostError, NotFoundError
from dormouse.ids import BlobKey, WorkspaceId, new_job_id
from dormouse.model.change import ApplyLease, ChangeKind
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from tests.builders import A_JOB, A_WORKSPACE, NOW_MS, a_change
from tests.contract.ports.catalog_samples import a_stored_dataset
from tests.hand_clock import HandClock

ANOTHER = WorkspaceId("another")


async def leased(tx: CatalogTransaction) -> ApplyLease:
    lease = await tx.workspaces.acquire_lease(A_WORKSPACE, "one", 10_000)
    assert lease is not None
    return lease


async def test_changes_are_numbered_by_workspace_from_one(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.workspaces.ensure(ANOTHER, "Another")
        first = await tx.changes.append(a_change(seq=77, part=0))
        second = await tx.changes.append(a_change(seq=1, part=1, is_last_part=False))
        elsewhere = await tx.changes.append(replace(a_change(job=new_job_id()), workspace=ANOTHER))

        assert first == a_change(seq=1, part=0)
        assert second == a_change(seq=2, part=1, is_last_part=False)
        assert elsewhere is not None
        assert elsewhere.seq == 1
        assert await tx.changes.next_unapplied(A_WORKSPACE) == first
        assert await tx.changes.unapplied_of(A_JOB) == [first, second]
        assert await tx.past.unapplied_count(A_WORKSPACE) == 2


async def test_a_change_is_appended_once(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.changes.append(a_change())
        assert await tx.changes.append(a_change()) is None
        other = await tx.changes.append(a_change(kind=ChangeKind.ERASE_REVISION))

    assert other is not None
    assert other.seq == 2


async def test_a_number_that_was_rolled_back_is_given_again(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.changes.lock(A_WORKSPACE)
        await tx.changes.append(a_change())

    async with catalog.transaction() as tx:
        change = await tx.changes.append(a_change())

    assert change is not None
    assert change.seq == 1


async def test_a_change_is_applied_once_and_the_next_is_the_lowest(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        for part in (0, 1):
            await tx.changes.append(a_change(part=part))
        lease = await leased(tx)

        assert await tx.past.highest_applied(A_WORKSPACE) == 0
        assert await tx.changes.mark_applied(lease, 1)
        assert not await tx.changes.mark_applied(lease, 1)
        assert await tx.changes.next_unapplied(A_WORKSPACE) == a_change(seq=2, part=1)
        assert await tx.changes.mark_applied(lease, 2)
        assert await tx.changes.next_unapplied(A_WORKSPACE) is None
        assert await tx.past.highest_applied(A_WORKSPACE) == 2
        assert await tx.past.unapplied_count(A_WORKSPACE) == 0


async def test_a_change_set_is_named_once(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.changes.append(a_change())
        lease = await leased(tx)
        await tx.changes.name_change_set(lease, 1, BlobKey("set"))
        with pytest.raises(ConflictError):
            await tx.changes.name_change_set(lease, 1, BlobKey("other"))

        named = await tx.changes.next_unapplied(A_WORKSPACE)
        assert named == replace(a_change(), change_set=BlobKey("set"))


async def test_attempts_are_counted(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.changes.append(a_change())
        lease = await leased(tx)
        assert [await tx.changes.count_attempt(lease, 1) for _ in range(3)] == [1, 2, 3]
        with pytest.raises(NotFoundError):
            await tx.changes.count_attempt(lease, 2)


async def test_whoever_lost_the_lease_changes_nothing(catalog: Catalog, clock: HandClock) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.changes.append(a_change())
        lease = await leased(tx)
        await tx.commit()
    clock.advance(10_000)

    async with catalog.transaction() as tx:
        with pytest.raises(LeaseLostError):
            await tx.changes.name_change_set(lease, 1, BlobKey("set"))
        with pytest.raises(LeaseLostError):
            await tx.changes.mark_applied(lease, 1)
        with pytest.raises(LeaseLostError):
            await tx.changes.count_attempt(lease, 1)
        with pytest.raises(LeaseLostError):
            await tx.changes.move_to_end(lease, 1)
        assert await tx.changes.next_unapplied(A_WORKSPACE) == a_change()


async def test_a_failing_forget_moves_behind_what_waits(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        erase = a_change(kind=ChangeKind.ERASE_DOCUMENT, part=-1)
        await tx.changes.append(erase)
        await tx.changes.append(a_change())
        lease = await leased(tx)
        await tx.changes.count_attempt(lease, 1)

        assert await tx.changes.move_to_end(lease, 1) == replace(erase, seq=3)
        assert await tx.changes.next_unapplied(A_WORKSPACE) == a_change(seq=2)
        assert await tx.past.unapplied_count(A_WORKSPACE) == 2


async def test_recent_erasures_are_those_applied_since(catalog: Catalog, clock: HandClock) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.changes.append(a_change(kind=ChangeKind.ERASE_DATASET, document=None, part=-1))
        await tx.changes.append(a_change())
        await tx.changes.append(a_change(kind=ChangeKind.ERASE_REVISION, part=-1))
        await tx.changes.append(a_change(kind=ChangeKind.ERASE_DOCUMENT, part=-1))
        lease = await leased(tx)
        await tx.changes.mark_applied(lease, 1)
        await tx.commit()
    clock.advance(5)
    async with catalog.transaction() as tx:
        await tx.changes.mark_applied(lease, 2)
        await tx.changes.mark_applied(lease, 3)

        kinds = [change.kind for change in await tx.past.recent_erasures(A_WORKSPACE, NOW_MS)]
        later = [change.seq for change in await tx.past.recent_erasures(A_WORKSPACE, NOW_MS + 1)]

    assert kinds == [ChangeKind.ERASE_DATASET, ChangeKind.ERASE_REVISION]
    assert later == [3]
