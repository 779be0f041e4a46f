"""What was derived from older revisions of a document can be taken out, and its texts stay."""

from dataclasses import replace

from dormouse.ids import BlobKey, new_job_id
from dormouse.model.change import ChangeKind
from dormouse.model.document import Shown
from dormouse.model.job import JobKind, PartRow
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import A_DATASET, A_WORKSPACE, a_change, a_job, a_revision
from tests.contract.ports.catalog_samples import a_stored_dataset, store_document
from tests.contract.ports.test_catalog_changes import leased


async def test_rows_of_older_revisions_go_and_texts_stay(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        document, other = await store_document(tx, "mine"), await store_document(tx, "other")
        revision = await tx.revisions.get(document.id, 1)
        assert revision is not None
        newer = a_job(id=new_job_id(), document=document.id, revision=2)
        hiding = a_job(id=new_job_id(), document=document.id, kind=JobKind.SUPPRESS, revision=1)
        for job in (newer, hiding):
            await tx.jobs.add(job)
        text = replace(a_revision(document.id, 2, text="new", job=newer.id), inline=None, blob=BlobKey("text"))
        await tx.revisions.add(text)
        for job_id in (revision.job, newer.id):
            await tx.work.save_plan(job_id, BlobKey(f"plan of {job_id}"), 1, 1)
            await tx.work.add_part(PartRow(job_id, 0, BlobKey(f"part of {job_id}"), 1))

        derived = await tx.revisions.erase_derived(document.id, 2)

        assert derived.jobs == sorted([revision.job, hiding.id])
        assert derived.originals == {BlobKey("text")}
        assert (await tx.work.plan(revision.job), await tx.work.parts(revision.job)) == (None, [])
        assert len(await tx.work.parts(newer.id)) == 1
        assert await tx.revisions.get(document.id, 1) == revision
        assert (await tx.revisions.erase_derived(other.id, 1)).jobs == []


async def test_no_rebuild_follows_what_brought_it(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        document = await store_document(tx, "mine")
        revision = await tx.revisions.get(document.id, 1)
        assert revision is not None
        erasing = a_job(id=new_job_id(), document=document.id, kind=JobKind.FORGET_MEMORY, revision=2)
        await tx.jobs.add(erasing)
        brought = a_change(job=revision.job, document=document.id)
        erasure = replace(brought, job=erasing.id, part=-1, kind=ChangeKind.ERASE_MEMORY, revision=2)
        lease = await leased(tx)
        for change in (brought, erasure):
            numbered = await tx.changes.append(change)
            assert numbered is not None
            await tx.changes.name_change_set(lease, numbered.seq, BlobKey("a change set"))
        await tx.changes.mark_applied(lease, 1)
        assert [each.seq for each in await tx.changes.waiting_forgets(A_WORKSPACE, 1, 10)] == [2]

        await tx.revisions.erase_derived(document.id, 2)
        await tx.changes.mark_applied(lease, 2)

        assert [each.seq for each in await tx.past.applied_to(document.id)] == [2]


async def test_hydration_is_told_from_which_revision_on_there_is_a_memory(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        document = await store_document(tx, "mine")
        emptied = replace(document, newest_revision=2, searchable_revision=0, memory_from=2)
        await tx.documents.save(emptied)

        assert await tx.documents.get(document.id) == emptied
        assert await tx.documents.live([document.id]) == {document.id: Shown(emptied.updated_ms, 2)}
        assert await tx.documents.listing(A_DATASET) == [emptied]


async def test_forgetting_the_item_takes_along_what_forgetting_its_memory_left(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        document = await store_document(tx, "mine")
        erasing = a_job(id=new_job_id(), document=document.id, kind=JobKind.FORGET_MEMORY, revision=2)
        await tx.jobs.add(erasing)
        await tx.documents.forget(document.id)

        assert erasing.id in await tx.documents.erase(A_DATASET, document=document.id, below_generation=None)
