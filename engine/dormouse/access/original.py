"""The bytes of an item as they were handed over, for whoever may read its dataset."""

from dormouse.access.listing import item
from dormouse.errors import ConflictError, NotFoundError
from dormouse.ids import DatasetId, DocumentId
from dormouse.model.document import Original
from dormouse.model.scope import Scope
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog


async def read_original(
    catalog: Catalog, blobs: BlobStore, scope: Scope, dataset: DatasetId, document: DocumentId
) -> Original:
    """Of the newest revision that did not fail, else of the newest one.

    Raises `ConflictError` while it is suppressed, and `NotFoundError`, also when a forget comes between the
    row and its bytes.
    """
    async with catalog.reading() as tx:
        found = await item(tx, scope, dataset, document)
        revision = await tx.revisions.newest_sound(document)
        revision = revision or await tx.revisions.get(document, found.document.newest_revision)
    if found.document.is_suppressed:
        raise ConflictError("this item is suppressed: restore it to read it")
    if revision is None:
        raise NotFoundError(f"Data ({document}) not found in dataset ({dataset}).")
    body = revision.inline if revision.blob is None else await blobs.get(revision.blob)
    return Original(found.document.name, body or b"")
