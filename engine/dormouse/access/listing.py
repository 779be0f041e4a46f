"""What a caller may read of datasets and their items, without the items' content."""

from collections.abc import Sequence

from dormouse.access.lookup import dataset_named, readable_datasets
from dormouse.errors import NotFoundError
from dormouse.ids import DatasetId, DocumentId
from dormouse.model.dataset import DatasetSummary
from dormouse.model.document import Document, Item
from dormouse.model.scope import Permission, Scope
from dormouse.ports.catalog.transaction import CatalogTransaction


async def summaries(tx: CatalogTransaction, scope: Scope) -> Sequence[DatasetSummary]:
    """Of every listed dataset that the caller may read, by name and then id."""
    readable = await readable_datasets(tx, scope)
    return await tx.datasets.summaries([each.id for each in readable])


async def items(
    tx: CatalogTransaction, scope: Scope, dataset: DatasetId, after: DocumentId | None, limit: int
) -> Sequence[Item]:
    """A page by id. Raises `NotFoundError` for a dataset that is not readable."""
    await dataset_named(tx, scope, dataset, Permission.READ)
    return await _with_heads(tx, await tx.documents.listing(dataset, after=after, limit=limit))


async def item(tx: CatalogTransaction, scope: Scope, dataset: DatasetId, document: DocumentId) -> Item:
    """Raises `NotFoundError`, also for an item of another dataset."""
    await dataset_named(tx, scope, dataset, Permission.READ)
    found = await tx.documents.get(document)
    listed = await _with_heads(tx, [found]) if found is not None and found.dataset == dataset else ()
    if not listed:
        raise NotFoundError(f"Data ({document}) not found in dataset ({dataset}).")
    return listed[0]


async def _with_heads(tx: CatalogTransaction, documents: Sequence[Document]) -> Sequence[Item]:
    heads = await tx.revisions.heads([each.id for each in documents])
    return [Item(each, heads[each.id]) for each in documents if each.id in heads]
