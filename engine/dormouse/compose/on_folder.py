"""Work noted for the next start of a data folder that nobody serves."""

from collections.abc import AsyncIterator
from collections.abc import Collection as Some
from contextlib import asynccontextmanager

from dormouse.adapters.catalog.transaction import SqlCatalog
from dormouse.adapters.workspace_directory.local import LOCAL_WORKSPACE
from dormouse.clock import SystemClock
from dormouse.compose.embedded import CATALOG_NAME, LOCAL_PRINCIPAL, local_collection, refuse_lost_catalog
from dormouse.compose.models import configured_embedder
from dormouse.model.job import Job
from dormouse.model.rebuild import DerivedStore
from dormouse.ports.catalog.transaction import Catalog
from dormouse.rebuild import request
from dormouse.settings import EngineSettings


async def request_rebuild(settings: EngineSettings, stores: Some[DerivedStore]) -> Job:
    """Note it for the next start, for a folder whose stores may not open; whoever calls owns the folder.

    Raises what `open_ports` raises for the catalog, and `ConflictError` where there is nothing to rebuild.
    """
    async with _catalog_alone(settings) as catalog, catalog.transaction() as tx:
        job = await request.request_rebuild(tx, LOCAL_WORKSPACE, LOCAL_PRINCIPAL, stores)
        await tx.commit()
        return job


async def request_migration(settings: EngineSettings) -> Job:
    """Note the move to the configured model for the next start; whoever calls owns the folder."""
    async with _catalog_alone(settings) as catalog:
        configured = await configured_embedder(settings.embedding, catalog, LOCAL_WORKSPACE)
        await configured.close()  # only its name and the length of its vectors are wanted
        await local_collection(catalog, configured)
        async with catalog.transaction() as tx:
            job = await request.request_migration(
                tx, LOCAL_WORKSPACE, LOCAL_PRINCIPAL, configured.model, configured.dimension
            )
            await tx.commit()
            return job


async def drop_migration(settings: EngineSettings) -> Job | None:
    """Give up the move to another model, if one is under way; whoever calls owns the folder. The next start
    removes what was built of it."""
    async with _catalog_alone(settings) as catalog, catalog.transaction() as tx:
        await tx.workspaces.ensure(LOCAL_WORKSPACE, "local")
        job = await request.drop_migration(tx, LOCAL_WORKSPACE)
        await tx.commit()
        return job


@asynccontextmanager
async def _catalog_alone(settings: EngineSettings) -> AsyncIterator[Catalog]:
    """Without the stores: what is noted there may be what lets them open again."""
    refuse_lost_catalog(settings.data_dir)
    catalog = SqlCatalog(f"sqlite:///{settings.data_dir / CATALOG_NAME}", SystemClock())
    try:
        await catalog.migrate()
        await catalog.check()
        yield catalog
    finally:
        await catalog.close()
