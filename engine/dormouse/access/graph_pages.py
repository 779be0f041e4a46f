"""The graph of one readable dataset, a bounded page at a time. Nothing that is forgotten or hidden is in it."""

from collections.abc import Sequence

from dormouse.access.lookup import dataset_named, visible
from dormouse.ids import DatasetId
from dormouse.model.document import Document
from dormouse.model.graph_page import GraphPage, GraphPlace
from dormouse.model.passage import Passage
from dormouse.model.scope import Permission, Scope
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.graph_store import GraphStore, MemoryQuery

BEGINNING = -1  # before the first passage of a document


async def read_page(
    catalog: Catalog,
    graph: GraphStore,
    scope: Scope,
    dataset: DatasetId,
    *,
    after: GraphPlace | None,
    limit: int,
) -> GraphPage:
    """At most `limit` passages of at most `limit` documents, with what they mention and what is believed now.

    Raises `NotFoundError` for a dataset that is not readable.
    """
    narrowed = scope.narrowed_to([dataset])
    documents = await _documents(catalog, narrowed, dataset, after, limit + 1)
    found: list[Passage] = []
    seen: list[Document] = []
    following: GraphPlace | None = None
    for document in documents[:limit]:
        begin = after[1] if after and document.id == after[0] else BEGINNING
        wanted = limit - len(found)
        passages = await graph.passages_of(narrowed, document.id, after_order=begin, limit=wanted)
        found += passages
        if not document.is_suppressed:
            seen.append(document)
        if len(passages) == wanted:
            following = (document.id, passages[-1].order)
            break
    if following is None and len(documents) > limit:
        following = (documents[limit].id, BEGINNING)
    async with catalog.reading() as tx:
        (shown, _), now_ms = await visible(tx, narrowed, found), tx.now_ms
    ids = [each.id for each in shown]
    return GraphPage(
        documents=tuple(seen),
        passages=tuple(shown),
        mentions=tuple(await graph.entities_in(narrowed, ids)),
        memories=tuple(await graph.memories(narrowed, MemoryQuery(ids, known_at_ms=now_ms))),
        following=following,
    )


async def _documents(
    catalog: Catalog, scope: Scope, dataset: DatasetId, after: GraphPlace | None, limit: int
) -> Sequence[Document]:
    """From the one where the last page stopped."""
    async with catalog.reading() as tx:
        await dataset_named(tx, scope, dataset, Permission.READ)
        first = await tx.documents.get(after[0]) if after else None
        listed = await tx.documents.listing(dataset, after=after[0] if after else None, limit=limit)
    return [first, *listed] if first is not None and first.dataset == dataset else listed
