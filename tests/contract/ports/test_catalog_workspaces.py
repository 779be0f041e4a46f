import pytest

from dormouse.errors import LeaseLostError, NotFoundError
from dormouse.ids import BlobKey, WorkspaceId
from dormouse.model.change import ApplyLease
from dormouse.model.workspace import Collection, Workspace
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import A_WORKSPACE, NOW_MS, a_change
from tests.contract.ports.catalog_samples import a_stored_dataset
from tests.hand_clock import HandClock

ANOTHER = WorkspaceId("another")


async def acquire(catalog: Catalog, holder: str) -> ApplyLease | None:
    async with catalog.transaction() as tx:
        lease = await tx.workspaces.acquire_lease(A_WORKSPACE, holder, 10_000)
        await tx.commit()
    return lease


async def release(catalog: Catalog, lease: ApplyLease) -> None:
    async with catalog.transaction() as tx:
        await tx.workspaces.release_lease(lease)
        await tx.commit()


async def test_a_workspace_is_made_once(catalog: Catalog, clock: HandClock) -> None:
    async with catalog.transaction() as tx:
        made = await tx.workspaces.ensure(A_WORKSPACE, "Local")
        again = await tx.workspaces.ensure(A_WORKSPACE, "Local")
        await tx.commit()

    assert made == again == Workspace(A_WORKSPACE, "Local", None, None, 0, None, NOW_MS)


async def test_an_unknown_workspace_is_not_found(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        with pytest.raises(NotFoundError):
            await tx.workspaces.get(ANOTHER)
        with pytest.raises(NotFoundError):
            await tx.workspaces.park(ANOTHER, NOW_MS, "asleep")


async def test_the_active_collection_is_kept(catalog: Catalog) -> None:
    collection = Collection("main", "minilm", 384)
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.workspaces.activate(A_WORKSPACE, collection)
        await tx.commit()

    async with catalog.reading() as tx:
        assert (await tx.workspaces.get(A_WORKSPACE)).collection == collection


async def test_the_first_lease_counts_as_handed_over(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)

    assert await acquire(catalog, "one") == ApplyLease(A_WORKSPACE, "one", 1, NOW_MS + 10_000, True)


async def test_a_running_lease_keeps_others_out(catalog: Catalog, clock: HandClock) -> None:
    await a_stored_dataset(catalog)
    await acquire(catalog, "one")
    clock.advance(9_999)

    assert await acquire(catalog, "two") is None


async def test_a_lease_that_ran_out_is_taken_over_as_not_released(catalog: Catalog, clock: HandClock) -> None:
    await a_stored_dataset(catalog)
    await acquire(catalog, "one")
    clock.advance(10_000)

    lease = await acquire(catalog, "two")

    assert lease == ApplyLease(A_WORKSPACE, "two", 2, NOW_MS + 20_000, False)


async def test_a_released_lease_is_handed_over(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    first = await acquire(catalog, "one")
    assert first is not None
    await release(catalog, first)

    lease = await acquire(catalog, "two")

    assert lease == ApplyLease(A_WORKSPACE, "two", 2, NOW_MS + 10_000, True)


async def test_the_same_holder_may_acquire_again_and_ends_its_older_epoch(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    first = await acquire(catalog, "one")
    second = await acquire(catalog, "one")
    assert first is not None
    assert second is not None

    async with catalog.transaction() as tx:
        await tx.workspaces.assert_lease(second)
        with pytest.raises(LeaseLostError):
            await tx.workspaces.assert_lease(first)
        with pytest.raises(LeaseLostError):
            await tx.workspaces.renew_lease(first, 10_000)


async def test_a_renewed_lease_holds_longer(catalog: Catalog, clock: HandClock) -> None:
    await a_stored_dataset(catalog)
    lease = await acquire(catalog, "one")
    assert lease is not None
    clock.advance(8_000)
    async with catalog.transaction() as tx:
        renewed = await tx.workspaces.renew_lease(lease, 10_000)
        await tx.commit()
    clock.advance(9_000)

    assert renewed.expires_ms == NOW_MS + 18_000
    assert await acquire(catalog, "two") is None
    async with catalog.reading() as tx:
        await tx.workspaces.assert_lease(renewed)


async def test_an_expired_or_released_lease_is_not_held(catalog: Catalog, clock: HandClock) -> None:
    await a_stored_dataset(catalog)
    lease = await acquire(catalog, "one")
    assert lease is not None
    clock.advance(10_000)
    async with catalog.reading() as tx:
        with pytest.raises(LeaseLostError):
            await tx.workspaces.assert_lease(lease)

    await release(catalog, lease)
    async with catalog.transaction() as tx:
        with pytest.raises(LeaseLostError):
            await tx.workspaces.renew_lease(lease, 10_000)


async def test_releasing_an_older_epoch_releases_nothing(catalog: Catalog, clock: HandClock) -> None:
    await a_stored_dataset(catalog)
    first = await acquire(catalog, "one")
    assert first is not None
    clock.advance(10_000)
    await acquire(catalog, "two")

    await release(catalog, first)

    assert await acquire(catalog, "three") is None


async def test_a_change_is_due_until_it_is_applied_and_unless_parked(
    catalog: Catalog, clock: HandClock
) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.changes.append(a_change())
        assert await tx.workspaces.with_due_changes() == [A_WORKSPACE]
        await tx.workspaces.park(A_WORKSPACE, NOW_MS + 1_000, "the store is asleep")
        assert await tx.workspaces.with_due_changes() == []
        assert await tx.work.next_due_ms() == NOW_MS + 1_000
        await tx.commit()

    clock.advance(1_000)
    lease = await acquire(catalog, "one")
    assert lease is not None
    async with catalog.transaction() as tx:
        assert (await tx.workspaces.get(A_WORKSPACE)).parked_reason == "the store is asleep"
        assert await tx.workspaces.with_due_changes() == [A_WORKSPACE]
        await tx.workspaces.park(A_WORKSPACE, 0, None)
        await tx.changes.name_change_set(lease, 1, BlobKey("set"))
        await tx.changes.mark_applied(lease, 1)
        assert await tx.workspaces.with_due_changes() == []
        assert (await tx.workspaces.get(A_WORKSPACE)).parked_reason is None
