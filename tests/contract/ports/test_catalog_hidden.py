import pytest

from dormouse.ids import DocumentId
from dormouse.model.document import Document
from dormouse.ports.catalog.hidden import Hiding
from dormouse.ports.catalog.transaction import Catalog
from tests.builders import (
    A_DATASET,
    A_DOCUMENT,
    A_PRINCIPAL,
    A_WORKSPACE,
    a_document,
    a_revision,
    a_session_entry,
)
from tests.contract.ports.catalog_samples import a_stored_dataset

NOBODY = DocumentId("nobody")


async def stored(catalog: Catalog) -> Document:
    await a_stored_dataset(catalog)
    document = a_document(searchable_revision=0)
    async with catalog.transaction() as tx:
        await tx.documents.save(document)
        await tx.revisions.add(a_revision(document.id))
        await tx.commit()
    return document


async def test_what_is_hidden_is_listed_as_such_and_shown_to_nobody(catalog: Catalog) -> None:
    document = await stored(catalog)
    async with catalog.transaction() as tx:
        assert await tx.revisions.recent_inline([A_DATASET], 9) != []

        assert await tx.hidden.hide(A_WORKSPACE, A_DATASET, document.id) is True

        assert await tx.documents.live([document.id]) == {}
        assert await tx.revisions.recent_inline([A_DATASET], 9) == []
        assert [each.is_suppressed for each in await tx.documents.listing(A_DATASET)] == [True]


async def test_hiding_twice_is_hiding_once(catalog: Catalog) -> None:
    document = await stored(catalog)
    async with catalog.transaction() as tx:
        await tx.hidden.hide(A_WORKSPACE, A_DATASET, document.id)

        assert await tx.hidden.hide(A_WORKSPACE, A_DATASET, document.id) is False
        assert await tx.hidden.show(document.id) is True
        assert await tx.hidden.show(document.id) is False


async def test_what_stores_say_is_kept_apart_from_what_was_accepted(catalog: Catalog) -> None:
    document = await stored(catalog)
    async with catalog.transaction() as tx:
        await tx.hidden.hide(A_WORKSPACE, A_DATASET, document.id)
        assert await tx.hidden.of(document.id) == Hiding(is_active=True, is_applied=False)
        await tx.hidden.settle(document.id, is_applied=True)

        await tx.hidden.show(document.id)

        assert await tx.hidden.of(document.id) == Hiding(is_active=False, is_applied=True)
        assert await tx.documents.live([document.id]) != {}
        await tx.hidden.settle(document.id, is_applied=False)
        assert await tx.hidden.many([document.id, NOBODY]) == {}


async def test_saving_a_document_does_not_show_it_again(catalog: Catalog) -> None:
    document = await stored(catalog)
    async with catalog.transaction() as tx:
        await tx.hidden.hide(A_WORKSPACE, A_DATASET, document.id)

        await tx.documents.save(document)

        found = await tx.documents.get(document.id)
        assert found is not None
        assert found.is_suppressed


@pytest.mark.promise("P3")
async def test_forgetting_takes_the_row_too(catalog: Catalog) -> None:
    document = await stored(catalog)
    async with catalog.transaction() as tx:
        await tx.hidden.hide(A_WORKSPACE, A_DATASET, document.id)
        await tx.documents.forget(document.id)

        await tx.documents.erase(A_DATASET, document=document.id, below_generation=None)
        await tx.hidden.settle(document.id, is_applied=True)

        assert await tx.hidden.of(document.id) == Hiding()


async def test_a_session_entry_that_quotes_it_hides_with_it(catalog: Catalog) -> None:
    await stored(catalog)
    async with catalog.transaction() as tx:
        await tx.sessions.add(a_session_entry(quotes=(A_DOCUMENT,)))
        await tx.sessions.add(a_session_entry("Something else."))
        await tx.hidden.hide(A_WORKSPACE, A_DATASET, A_DOCUMENT)

        while_hidden = await tx.sessions.entries(A_PRINCIPAL, "s1", 9)
        await tx.hidden.show(A_DOCUMENT)

        assert [each.text for each in while_hidden] == ["Something else."]
        assert len(await tx.sessions.entries(A_PRINCIPAL, "s1", 9)) == 2
