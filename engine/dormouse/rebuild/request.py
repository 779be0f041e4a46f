"""Asking for a store to be made anew: one catalog row each, which whoever applies changes acts upon.

Asking again while it is under way answers with the job that does it. Source: writes §7.
"""

import asyncio
import re
from collections.abc import Collection as Some
from dataclasses import replace

from dormouse.errors import ConflictError
from dormouse.ids import JobId, PrincipalId, WorkspaceId, new_job_id
from dormouse.jobs.transition import cancelled
from dormouse.model.job import CancelReason, Job, JobCounts, JobKind, Stage
from dormouse.model.rebuild import DerivedStore, Rebuild
from dormouse.model.workspace import Collection
from dormouse.ports.catalog.transaction import Catalog, CatalogTransaction
from dormouse.ports.embedder import Embedders
from dormouse.ports.message_bus import MessageBus
from dormouse.ports.vector_collections import VectorCollections

_NUMBERED = re.compile(r"(.*)-(\d+)")


class RebuildRequests:
    def __init__(
        self, catalog: Catalog, bus: MessageBus, collections: VectorCollections, embedders: Embedders
    ) -> None:
        self._catalog = catalog
        self._bus = bus
        self._collections = collections
        self._embedders = embedders
        # What is given up is gone before the next one may take its name.
        self._one_at_a_time = asyncio.Lock()

    async def rebuild(self, workspace: WorkspaceId, principal: PrincipalId, stores: Some[DerivedStore]) -> Job:
        """Raises `ConflictError`."""
        async with self._one_at_a_time, self._catalog.transaction() as tx:
            job = await request_rebuild(tx, workspace, principal, stores)
            await tx.commit()
        await self._bus.ring_apply(workspace)
        return job

    async def migrate(self, workspace: WorkspaceId, principal: PrincipalId) -> Job:
        """To the model that is configured. Raises `ConflictError`."""
        wanted = self._embedders.configured
        async with self._one_at_a_time, self._catalog.transaction() as tx:
            job = await request_migration(tx, workspace, principal, wanted.model, wanted.dimension)
            await tx.commit()
        await self._bus.ring_apply(workspace)
        return job

    async def drop_migration(self, workspace: WorkspaceId) -> Job | None:
        """The job that it ends. A crash before the files are gone is made good by the next start."""
        async with self._one_at_a_time:
            async with self._catalog.transaction() as tx:
                job = await drop_migration(tx, workspace)
                await tx.commit()
            if job is not None:
                await self._collections.abandon()
        return job


async def request_migration(
    tx: CatalogTransaction, workspace: WorkspaceId, principal: PrincipalId, model: str, dimension: int
) -> Job:
    """As `request_rebuild`, into a collection of another model. Raises `ConflictError` if there is no other."""
    await tx.changes.lock(workspace)
    row = await tx.workspaces.get(workspace)
    under_way = {each.store: each.job for each in await tx.history.rebuilds(workspace)}
    if row.collection is None or row.collection.model == model:
        raise ConflictError("everything is embedded with the configured model already")
    if (job := under_way.get(DerivedStore.VECTORS)) is not None:
        if row.building is not None and row.building.model == model:
            return await tx.jobs.get(job)
        raise ConflictError("the vectors are being built anew; wait for that, or drop it first")
    passages = await tx.history.volume(workspace)
    made = _job(workspace, principal, JobKind.MIGRATE_EMBEDDING, passages, tx.now_ms)
    await tx.jobs.add(made)
    await tx.history.begin(Rebuild(workspace, DerivedStore.VECTORS, made.id))
    await tx.workspaces.build(workspace, Collection(following(row.collection.name), model, dimension))
    return made


async def drop_migration(tx: CatalogTransaction, workspace: WorkspaceId) -> Job | None:
    """End the move to another model, which leaves the former one as it was; None if there is none.

    What was embedded for it stays beside the parts, so that asking again goes on from there.
    """
    await tx.changes.lock(workspace)
    row = await tx.workspaces.get(workspace)
    under_way = {each.store: each.job for each in await tx.history.rebuilds(workspace)}
    job_id = under_way.get(DerivedStore.VECTORS)
    if job_id is None or not row.building or not row.collection or row.building.model == row.collection.model:
        return None
    dropped = cancelled(await tx.jobs.get(job_id), CancelReason.BY_OWNER, tx.now_ms)
    await tx.jobs.save(dropped)
    await tx.history.end(workspace, DerivedStore.VECTORS)
    await tx.workspaces.build(workspace, None)
    return dropped


async def request_rebuild(
    tx: CatalogTransaction, workspace: WorkspaceId, principal: PrincipalId, stores: Some[DerivedStore]
) -> Job:
    """The caller commits, and rings. Raises `ConflictError` while another model is being moved to."""
    if not await tx.past.highest_applied(workspace):
        raise ConflictError("nothing was remembered here yet, so there is nothing to rebuild")
    await tx.changes.lock(workspace)
    under_way = {each.store: each for each in await tx.history.rebuilds(workspace)}
    row = await tx.workspaces.get(workspace)
    if row.building is not None and row.collection is not None and row.building.model != row.collection.model:
        raise ConflictError(
            "the memory is being embedded with another model; wait for that or give it up first"
        )
    wanted = [store for store in stores if store not in under_way or under_way[store].job is None]
    going_on = [under_way[store].job for store in stores if store in under_way]
    if not wanted and going_on[0] is not None:
        return await tx.jobs.get(going_on[0])
    job = _job(
        workspace, principal, JobKind.REBUILD, await tx.history.volume(workspace) * len(wanted), tx.now_ms
    )
    await tx.jobs.add(job)
    for store in wanted:
        await tx.history.begin(Rebuild(workspace, store, job.id))
    if DerivedStore.VECTORS in wanted and row.collection is not None:
        await tx.workspaces.build(workspace, replace(row.collection, name=following(row.collection.name)))
    return job


def following(name: str) -> str:
    """`memories`, `memories-2`, `memories-3`: no collection takes the name of the one before it."""
    numbered = _NUMBERED.fullmatch(name)
    return f"{numbered[1]}-{int(numbered[2]) + 1}" if numbered else f"{name}-2"


def _job(workspace: WorkspaceId, principal: PrincipalId, kind: JobKind, passages: int, now_ms: int) -> Job:
    return Job(
        id=JobId(new_job_id()),
        workspace=workspace,
        principal=principal,
        kind=kind,
        dataset=None,
        document=None,
        revision=0,
        stage=Stage.ACCEPTED,
        accepted_ms=now_ms,
        updated_ms=now_ms,
        counts=JobCounts(passages=passages),
    )
