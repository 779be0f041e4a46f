from dataclasses import replace

import pytest

from dormouse.errors import ConflictError, NotFoundError, SupersededError
from dormouse.ids import BlobKey, DocumentId, document_id, new_job_id, sha256_hex
from dormouse.model.document import Document, Item, Shown
from dormouse.model.job import JobKind, PartRow
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import A_DATASET, A_PRINCIPAL, NOW_MS, a_document, a_job, a_revision
from tests.contract.ports.catalog_samples import a_stored_dataset, store_document


def at_generation(document: Document, *, dataset: int = 0, item: int = 0) -> Document:
    """The same item as it is accepted after forgets."""
    return replace(
        document,
        id=document_id(document.dataset, document.identity, dataset, item),
        dataset_generation=dataset,
        item_generation=item,
    )


async def test_a_saved_document_is_found_by_what_identifies_it(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        document = await store_document(tx, "hello")
        await tx.commit()

    async with catalog.reading() as tx:
        assert await tx.documents.get(document.id) == document
        assert await tx.documents.live_by_identity(A_DATASET, document.identity) == document
        assert await tx.documents.live_by_content(A_DATASET, sha256_hex(b"hello")) == document
        assert await tx.documents.live([document.id, DocumentId("other")]) == {
            document.id: Shown(document.updated_ms, 0)
        }
        assert await tx.documents.live_by_identity(A_DATASET, "other") is None


async def test_saving_again_replaces_every_column(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        document = await store_document(tx, "hello")
        renamed = replace(document, name="new.txt", newest_revision=2, updated_ms=NOW_MS + 1)
        await tx.documents.save(renamed)
        assert await tx.documents.get(document.id) == renamed


async def test_a_document_needs_its_dataset(catalog: Catalog) -> None:
    async with catalog.transaction() as tx:
        with pytest.raises(NotFoundError):
            await tx.documents.save(a_document())


async def test_content_is_matched_with_the_newest_revision_that_did_not_fail(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        document = await store_document(tx, "one")
        await tx.revisions.add(a_revision(document.id, 2, text="two"))
        await tx.revisions.add(a_revision(document.id, 3, text="three"))
        await tx.revisions.mark_failed(document.id, 3)

        by_content = tx.documents.live_by_content
        assert await by_content(A_DATASET, sha256_hex(b"two")) == document
        assert await by_content(A_DATASET, sha256_hex(b"one")) is None
        assert await by_content(A_DATASET, sha256_hex(b"three")) is None
        newest = await tx.revisions.newest_sound(document.id)
        assert newest == a_revision(document.id, 2, text="two")


async def test_content_is_matched_with_the_oldest_document_without_external_id(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    oldest = replace(a_document("c"), created_ms=NOW_MS - 1)
    named = replace(a_document("a", external_id="x"), created_ms=NOW_MS - 2)
    async with catalog.transaction() as tx:
        for document in (a_document("b"), oldest, named):
            await store_document(tx, "same", document)

        assert await tx.documents.live_by_content(A_DATASET, sha256_hex(b"same")) == oldest


async def test_a_forgotten_document_is_not_live_from_then_on(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        document = await store_document(tx, "hello")
        assert await tx.documents.forget(document.id) == document
        await tx.commit()

    async with catalog.transaction() as tx:
        assert await tx.documents.get(document.id) is None
        assert await tx.documents.live([document.id]) == {}
        assert await tx.documents.listing(A_DATASET) == []
        assert await tx.documents.count(A_DATASET) == 0
        assert await tx.documents.live_by_content(A_DATASET, sha256_hex(b"hello")) is None
        assert await tx.revisions.recent_inline([A_DATASET], 10) == []
        assert await tx.documents.item_generation(A_DATASET, document.identity) == 1
        assert await tx.documents.forget(document.id) is None


async def test_an_item_forgotten_twice_has_been_forgotten_twice(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    first = a_document("hello")
    second = at_generation(first, item=1)
    async with catalog.transaction() as tx:
        for document in (first, second):
            await store_document(tx, "hello", document)
            await tx.documents.forget(document.id)
        await tx.documents.erase(A_DATASET, document=first.id, below_generation=None)
        await tx.documents.erase(A_DATASET, document=second.id, below_generation=None)

        assert await tx.documents.item_generation(A_DATASET, "hello") == 2
        assert await tx.documents.item_generation(A_DATASET, "other") == 0


async def test_saving_a_forgotten_document_does_not_revive_it(catalog: Catalog) -> None:
    """The applier may hold a document that is forgotten meanwhile, and erased too."""
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        document = await store_document(tx, "hello")
        await tx.documents.forget(document.id)
        await tx.documents.save(replace(document, searchable_revision=1))
        assert await tx.documents.get(document.id) is None

        await tx.documents.erase(A_DATASET, document=document.id, below_generation=None)
        with pytest.raises(SupersededError):
            await tx.documents.save(document)


async def test_forgetting_the_dataset_hides_its_documents(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        document = await store_document(tx, "hello")
        await tx.datasets.forget(A_DATASET)
        again = at_generation(document, dataset=1)
        await store_document(tx, "hello", again)

        assert await tx.documents.live([document.id, again.id]) == {again.id: Shown(again.updated_ms, 0)}
        assert await tx.documents.listing(A_DATASET) == [again]
        assert await tx.documents.live_by_identity(A_DATASET, document.identity) == again


async def test_an_external_id_names_one_live_document_of_a_generation(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    first, second = a_document("a", external_id="x"), a_document("b", external_id="x")
    async with catalog.transaction() as tx:
        await tx.documents.save(first)
        with pytest.raises(ConflictError):
            await tx.documents.save(second)

    async with catalog.transaction() as tx:
        await tx.documents.save(first)
        await tx.documents.forget(first.id)
        await tx.documents.save(second)
        await tx.datasets.forget(A_DATASET)
        await tx.documents.save(at_generation(first, dataset=1, item=1))


async def test_listings_page_through_all_documents_once(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        stored = [await store_document(tx, f"text {number}") for number in range(25)]
        seen: list[Document] = []
        while page := await tx.documents.listing(A_DATASET, after=seen[-1].id if seen else None, limit=10):
            seen += page

        assert await tx.documents.count(A_DATASET) == 25

    assert seen == sorted(stored, key=lambda document: document.id)


async def test_erasing_deletes_what_is_forgotten_and_nothing_live(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        kept, gone = await store_document(tx, "kept"), await store_document(tx, "gone")
        revision = await tx.revisions.get(gone.id, 1)
        assert revision is not None
        retry = a_job(id=new_job_id(), document=gone.id)
        await tx.jobs.add(retry)
        forget = a_job(id=new_job_id(), document=gone.id, kind=JobKind.FORGET_ITEM)
        await tx.jobs.add(forget)
        await tx.jobs.remember_key(A_PRINCIPAL, "remember", "key", "sha", revision.job)
        await tx.work.save_plan(retry.id, BlobKey("plan"), 1, 1)
        await tx.work.add_part(PartRow(retry.id, 0, BlobKey("part"), 1))

        assert await tx.documents.erase(A_DATASET, document=gone.id, below_generation=None) == []
        await tx.documents.forget(gone.id)
        jobs = await tx.documents.erase(A_DATASET, document=gone.id, below_generation=None)

        assert jobs == sorted([revision.job, retry.id])
        assert await tx.revisions.get(gone.id, 1) is None
        assert await tx.documents.get(kept.id) == kept
        assert await tx.revisions.get(kept.id, 1) is not None
        assert await tx.jobs.idempotent(A_PRINCIPAL, "remember", "key") == (revision.job, "")
        assert await tx.work.plan(retry.id) is None
        assert await tx.work.parts(retry.id) == []
        assert (await tx.jobs.get(revision.job)).document == gone.id
        assert await tx.documents.erase(A_DATASET, document=gone.id, below_generation=None) == []


async def test_erasing_below_a_generation_spares_what_came_after(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        old = await store_document(tx, "hello")
        assert await tx.documents.erase(A_DATASET, document=None, below_generation=1) == []
        await tx.datasets.forget(A_DATASET)
        new = at_generation(old, dataset=1)
        await store_document(tx, "hello", new)

        jobs = await tx.documents.erase(A_DATASET, document=None, below_generation=1)

        assert len(jobs) == 1
        assert await tx.revisions.get(old.id, 1) is None
        assert await tx.revisions.get(new.id, 1) is not None


async def test_more_documents_than_a_statement_takes_are_erased(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        stored = [await store_document(tx, f"text {number}") for number in range(510)]
        await tx.datasets.forget(A_DATASET)

        jobs = await tx.documents.erase(A_DATASET, document=None, below_generation=1)

        assert len(set(jobs)) == len(stored)
        assert await tx.revisions.get(stored[-1].id, 1) is None


async def test_a_revision_comes_back_as_it_was_added(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        await tx.documents.save(a_document())
        revision = replace(
            a_revision(text="наш текст"),
            filename="a.md",
            occurred_ms=-5,
            offset_minutes=120,
            zone="Asia/Tokyo",
            options={"custom_prompt": "наш"},
        )
        await tx.revisions.add(revision)
        assert await tx.revisions.get(revision.document, 1) == revision
        with pytest.raises(ConflictError):
            await tx.revisions.add(revision)


async def test_inline_text_moves_to_a_blob(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        document = await store_document(tx, "hello")
        await tx.revisions.move_inline(document.id, 1, BlobKey("blob"))
        moved = await tx.revisions.get(document.id, 1)

        assert moved is not None
        assert (moved.inline, moved.blob) == (None, "blob")
        assert await tx.blobs.named([BlobKey("blob"), BlobKey("other")]) == {"blob"}


async def test_recent_writes_are_those_not_yet_searchable_newest_first(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        fresh = replace(a_document("fresh"), searchable_revision=0)
        updated = replace(a_document("updated"), newest_revision=2, searchable_revision=1)
        await tx.documents.save(replace(a_document("old"), searchable_revision=1))
        await tx.revisions.add(a_revision(a_document("old").id))
        await tx.documents.save(fresh)
        await tx.revisions.add(a_revision(fresh.id))
        await tx.documents.save(updated)
        await tx.revisions.add(a_revision(updated.id, 1))
        newest = replace(a_revision(updated.id, 2, text="new"), created_ms=NOW_MS + 1)
        await tx.revisions.add(newest)

        assert await tx.revisions.recent_inline([A_DATASET], 10) == [
            (updated, newest),
            (fresh, a_revision(fresh.id)),
        ]
        assert await tx.revisions.recent_inline([A_DATASET], 1) == [(updated, newest)]
        assert await tx.revisions.recent_inline([], 10) == []


async def test_of_several_waiting_revisions_the_newest_sound_one_is_shown(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    document = replace(a_document("fresh"), newest_revision=3, searchable_revision=0)
    async with catalog.transaction() as tx:
        await tx.documents.save(document)
        for number in (1, 2, 3):
            await tx.revisions.add(a_revision(document.id, number, text=f"text {number}"))
        await tx.revisions.mark_failed(document.id, 3)

        recent = await tx.revisions.recent_inline([A_DATASET], 10)

        assert recent == [(document, a_revision(document.id, 2, text="text 2"))]


async def test_an_item_is_a_live_document_with_its_newest_revision_without_its_bytes(catalog: Catalog) -> None:
    await a_stored_dataset(catalog)
    async with catalog.transaction() as tx:
        document = await store_document(tx, "first")
        await tx.revisions.add(a_revision(document.id, 2, text="second", is_failed=True))
        await tx.documents.save(replace(document, newest_revision=2))
        gone = await store_document(tx, "gone")
        await tx.documents.forget(gone.id)

        items = await tx.revisions.items([document.id, gone.id, DocumentId("other")])

    expected = a_revision(document.id, 2, text="second", is_failed=True)
    assert items == {document.id: Item(replace(document, newest_revision=2), replace(expected, inline=None))}
