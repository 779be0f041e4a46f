"""What a caller may read of datasets and their items, without the items' content."""

from collections.abc import Collection, Sequence

from dormouse.access.lookup import dataset_named, readable_datasets
from dormouse.errors import NotFoundError
from dormouse.ids import DatasetId, DocumentId
from dormouse.model.dataset import DatasetSummary
from dormouse.model.document import Item
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
    page = [each.id for each in await tx.documents.listing(dataset, after=after, limit=limit)]
    found = await tx.revisions.items(page)
    return [found[each] for each in page if each in found]


async def item(tx: CatalogTransaction, scope: Scope, dataset: DatasetId, document: DocumentId) -> Item:
    """Raises `NotFoundError`, also for an item of another dataset."""
    await dataset_named(tx, scope, dataset, Permission.READ)
    found = (await tx.revisions.items([document])).get(document)
    if found is None or found.document.dataset != dataset:
        raise NotFoundError(f"Data ({document}) not found in dataset ({dataset}).")
    return found


async def names(
    tx: CatalogTransaction, scope: Scope, documents: Collection[DocumentId]
) -> dict[DocumentId, str]:
    """What the readable ones among these live documents are called."""
    found = await tx.revisions.items(documents)
    return {id_: each.document.name for id_, each in found.items() if each.document.dataset in scope.readable}
