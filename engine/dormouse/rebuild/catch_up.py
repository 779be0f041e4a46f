"""After an unclean start: which changes a store lacks although they count as applied, to be followed again.

Each store knows up to which change it holds everything. What the catalog says was applied behind that was
lost with a damaged journal, a log that a power cut took, or an older copy of the file. Source: writes §7.
"""

from collections.abc import Mapping
from dataclasses import replace

import structlog

from dormouse.ids import WorkspaceId
from dormouse.model.change import Change
from dormouse.model.rebuild import DerivedStore, Rebuild
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction

PAGE = 500

log = structlog.get_logger()


async def note_what_lags(
    catalog: Catalog, workspace: WorkspaceId, reached: Mapping[DerivedStore, int | None]
) -> None:
    """Before anything is applied; a store that is being made anew goes back to where it got."""
    async with catalog.transaction() as tx:
        under_way = {each.store: each for each in await tx.history.rebuilds(workspace)}
        for store, seq in reached.items():
            rebuild = under_way.get(store, Rebuild(workspace, store, None))
            if seq is not None and await _lags(tx, rebuild, seq):
                log.warning("store_lags", workspace=workspace, store=store.value, seq=seq)
                await tx.history.begin(replace(rebuild, followed_seq=seq))
        await tx.commit()


async def _lags(tx: CatalogTransaction, rebuild: Rebuild, seq: int) -> bool:
    """One that is being made anew lags only behind what it was said to have followed."""
    if rebuild.job is not None and (rebuild.followed_seq is None or seq >= rebuild.followed_seq):
        return False
    while page := await tx.history.applied_after(rebuild.workspace, seq, PAGE):
        documents = {change.document for change in page if change.document is not None}
        unerased = await tx.history.unerased(documents)
        if any(change.document in unerased and _touches(change, rebuild.store) for change in page):
            return True
        seq = page[-1].seq
    return False


def _touches(change: Change, store: DerivedStore) -> bool:
    return change.change_set is not None and not (store is DerivedStore.GRAPH and change.kind.is_hiding)
