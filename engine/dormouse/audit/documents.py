"""The live documents of a dataset, read page by page, so that no reading transaction lasts long."""

from collections.abc import AsyncIterator

from dormouse.ids import DatasetId, DocumentId
from dormouse.model.document import Document
from dormouse.ports.catalog.transaction import Catalog

PAGE = 200


async def documents_of(catalog: Catalog, dataset: DatasetId) -> AsyncIterator[Document]:
    """By id; each page is of its own moment."""
    after: DocumentId | None = None
    while True:
        async with catalog.reading() as tx:
            page = await tx.documents.listing(dataset, after=after, limit=PAGE)
        for document in page:
            yield document
        if len(page) < PAGE:
            return
        after = page[-1].id
