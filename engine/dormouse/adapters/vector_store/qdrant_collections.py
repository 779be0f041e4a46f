"""Collections of a workspace on a Qdrant server: the active one goes by an alias that every process asks for.

There is an alias for each embedding model. A rebuild with the same model moves it, and all processes ask the
new collection from then on. A migration lets the former model's alias end with its collection: a process that
still embeds with that model then finds nothing to compare with, instead of another model's vectors.
"""

import hashlib
from collections.abc import Collection as Some

from qdrant_client import models

from dormouse.adapters.vector_store.active_and_building import ActiveAndBuilding
from dormouse.adapters.vector_store.admission import plain_name
from dormouse.adapters.vector_store.qdrant_calls import QdrantCalls, translated
from dormouse.adapters.vector_store.qdrant_server import QdrantServerVectorStore, prefix_of
from dormouse.ids import WorkspaceId
from dormouse.model.workspace import Collection


class QdrantCollections(ActiveAndBuilding[QdrantServerVectorStore]):
    """Whoever made `calls` closes them."""

    def __init__(self, calls: QdrantCalls, workspace: WorkspaceId) -> None:
        self._calls = calls
        self._workspace = workspace
        super().__init__()

    def _made(self) -> QdrantServerVectorStore:
        return QdrantServerVectorStore(self._calls, self._workspace)

    async def _let_answer(self, store: QdrantServerVectorStore, collection: Collection) -> None:
        """The catalog's row is the truth: after a crash between its commit and this, the next start does it."""
        alias = alias_of(self._workspace, collection)
        with translated():
            aliases = (await self._calls.client.get_aliases()).aliases
            if models.AliasDescription(alias_name=alias, collection_name=store.name) not in aliases:
                moved = models.CreateAlias(
                    collection_name=store.name, alias_name=alias
                )  # one that is there, too
                await self._calls.client.update_collection_aliases(
                    [models.CreateAliasOperation(create_alias=moved)]
                )
        store.go_by(alias)

    async def _remove(self, name: str) -> None:
        await self._calls.remove(f"{prefix_of(self._workspace)}{plain_name(name)}")

    async def _remove_others(self, kept: Some[str]) -> None:
        prefix = prefix_of(self._workspace)
        kept_names = {f"{prefix}{plain_name(name)}" for name in kept}
        for name in await self._calls.names():
            if name.startswith(prefix) and name not in kept_names:
                await self._calls.remove(name)


def alias_of(workspace: WorkspaceId, collection: Collection) -> str:
    made_by = hashlib.sha256(f"{collection.model}\0{collection.dimension}".encode()).hexdigest()
    return f"dormouse-active.{plain_name(workspace)}.{made_by[:16]}"
