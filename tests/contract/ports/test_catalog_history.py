"""The catalog's history: what was applied, and who follows it."""

from dormouse import ids
from dormouse.model.job import PartRow
from dormouse.model.rebuild import DerivedStore, Rebuild
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import (
    A_DATASET,
    A_DOCUMENT,
    A_JOB,
    A_WORKSPACE,
    a_change,
    a_document,
    a_job,
    a_revision,
)
from tests.contract.ports.catalog_samples import a_stored_dataset

BLOB = ids.BlobKey("local/job/part")
AGAIN = ids.BlobKey("local/job/again")


async def a_filled_catalog(catalog: Catalog) -> None:
    """One document, whose only revision a job brought."""
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.documents.save(a_document())
        await tx.jobs.add(a_job())
        await tx.revisions.add(a_revision())
        await tx.commit()


async def _with_changes(catalog: Catalog, count: int) -> None:
    await a_filled_catalog(catalog)
    async with catalog.transaction() as tx:
        for part in range(count):
            await tx.changes.append(a_change(part=part))
        await tx.commit()


async def test_applied_changes_are_followed_in_order(catalog: Catalog) -> None:
    await _with_changes(catalog, 3)
    async with catalog.transaction() as tx:
        lease = await tx.workspaces.acquire_lease(A_WORKSPACE, "me", 1000)
        assert lease
        await tx.changes.mark_applied(lease, 1)
        await tx.changes.mark_applied(lease, 2)
        await tx.commit()

    async with catalog.reading() as tx:
        assert [change.seq for change in await tx.history.applied_after(A_WORKSPACE, 0, 10)] == [1, 2]
        assert [change.seq for change in await tx.history.applied_after(A_WORKSPACE, 1, 10)] == [2]
        assert [change.seq for change in await tx.history.applied_after(A_WORKSPACE, 0, 1)] == [1]


async def test_an_abandoned_change_is_one_that_did_nothing(catalog: Catalog) -> None:
    await _with_changes(catalog, 1)
    async with catalog.transaction() as tx:
        lease = await tx.workspaces.acquire_lease(A_WORKSPACE, "me", 1000)
        assert lease
        await tx.changes.name_change_set(lease, 1, BLOB)
        await tx.changes.abandon(lease, 1)
        await tx.commit()

    async with catalog.reading() as tx:
        (change,) = await tx.history.applied_after(A_WORKSPACE, 0, 10)
    assert change.change_set is None


async def test_how_far_a_rebuild_came_is_kept_until_it_ends(catalog: Catalog) -> None:
    await a_filled_catalog(catalog)
    rebuild = Rebuild(A_WORKSPACE, DerivedStore.GRAPH, A_JOB)
    further = Rebuild(A_WORKSPACE, DerivedStore.GRAPH, A_JOB, followed_seq=7, lost=1)
    async with catalog.transaction() as tx:
        await tx.history.begin(rebuild)
        lease = await tx.workspaces.acquire_lease(A_WORKSPACE, "me", 1000)
        assert lease
        begun = await tx.history.rebuilds(A_WORKSPACE)
        await tx.history.advance(lease, further)
        await tx.commit()

    async with catalog.transaction() as tx:
        assert (begun, await tx.history.rebuilds(A_WORKSPACE)) == ([rebuild], [further])
        assert await tx.workspaces.with_due_changes() == [A_WORKSPACE]
        await tx.history.end(A_WORKSPACE, DerivedStore.GRAPH)
        assert await tx.history.rebuilds(A_WORKSPACE) == []


async def test_vectors_of_another_model_go_with_their_part(catalog: Catalog) -> None:
    await a_filled_catalog(catalog)
    async with catalog.transaction() as tx:
        await tx.work.add_part(PartRow(A_JOB, 0, BLOB, 3))
        await tx.history.keep_vectors(PartRow(A_JOB, 0, BLOB, 3), "another", AGAIN)
        kept = await tx.history.vectors_of(BLOB, "another")
        other = await tx.history.vectors_of(BLOB, "third")
        named = await tx.blobs.named([AGAIN])
        await tx.documents.forget(A_DOCUMENT)
        await tx.documents.erase(A_DATASET, document=A_DOCUMENT, below_generation=None)
        gone = await tx.history.vectors_of(BLOB, "another")
        erased = await tx.history.unerased([A_DOCUMENT])

    assert (kept, other, gone) == (AGAIN, None, None)
    assert (set(named), set(erased)) == ({AGAIN}, set())
