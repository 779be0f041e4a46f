"""Ahead of a migration's follower: embed applied parts with the new model, outside the apply lease.

A part takes about a second, which no change should wait for. Whatever is embedded is kept, so a killed or
interrupted migration goes on where it was. Source: writes §7.
"""

import asyncio

import structlog

from dormouse.errors import UnavailableError
from dormouse.ids import WorkspaceId
from dormouse.model.change import Change
from dormouse.model.rebuild import DerivedStore
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.message_bus import MessageBus
from dormouse.ports.workspace_directory import WorkspaceDirectory
from dormouse.rebuild.contents import LostContentsError
from dormouse.rebuild.parts import ModelParts

LOOK_EVERY_S = 2.0
PAGE = 50

log = structlog.get_logger()


class EmbedAgain:
    def __init__(
        self,
        catalog: Catalog,
        bus: MessageBus,
        parts: ModelParts,
        directory: WorkspaceDirectory,
        *,
        page: int = PAGE,
    ) -> None:
        self._catalog = catalog
        self._bus = bus
        self._parts = parts
        self._directory = directory
        self._page = page
        self._looked: dict[
            WorkspaceId, int
        ] = {}  # up to which change; from the follower on, where there is none
        self._told: set[tuple[WorkspaceId, int]] = set()

    async def run(self) -> None:
        """Until cancelled; every part is kept before the next one."""
        while True:
            try:
                worked = any([await self.round(each) for each in await self._directory.all()])
            except UnavailableError as exc:
                log.warning("embedding_again_waits", code=exc.code)
                worked = False
            if not worked:
                await asyncio.sleep(LOOK_EVERY_S)

    async def round(self, workspace: WorkspaceId) -> bool:
        """The next page of parts that lack the new model's vectors; whether there was any.

        Whatever is lost is passed by, and looked for again once all behind it is embedded: it may be put back,
        and the follower may be long in coming.
        """
        async with self._catalog.reading() as tx:
            row = await tx.workspaces.get(workspace)
            followed = [
                each.followed_seq or 0
                for each in await tx.history.rebuilds(workspace)
                if each.store is DerivedStore.VECTORS
            ]
            is_migrating = row.building and row.collection and row.building.model != row.collection.model
            if not (followed and row.building and is_migrating):
                self._looked.pop(workspace, None)
                return False
        from_seq = max(followed[0], self._looked.get(workspace, 0))
        page = await self._lacking(workspace, from_seq, row.building.model)
        for change in page:
            try:
                await self._parts.embed(change, row.building.model)
            except LostContentsError:
                self._tell(change)  # the follower counts it
        self._looked[workspace] = page[-1].seq if page else 0
        await self._bus.ring_apply(workspace)
        return bool(page)

    def _tell(self, change: Change) -> None:
        """Once in the life of a process."""
        if (change.workspace, change.seq) not in self._told:
            self._told.add((change.workspace, change.seq))
            log.error(
                "embedding_again_lacks_contents",
                workspace=change.workspace,
                seq=change.seq,
                document=change.document,
            )

    async def _lacking(self, workspace: WorkspaceId, seq: int, model: str) -> list[Change]:
        async with self._catalog.reading() as tx:
            while page := await tx.history.applied_after(workspace, seq, self._page):
                found = [each for each in page if each.blob and each.change_set]
                unerased = await tx.history.unerased({each.document for each in found if each.document})
                found = [each for each in found if each.document in unerased]
                kept = [await tx.history.vectors_of(each.blob, model) for each in found if each.blob]
                lacking = [each for each, blob in zip(found, kept, strict=True) if blob is None]
                if lacking:
                    return lacking
                seq = page[-1].seq
        return []
