"""The models: the one that makes vectors, the former one while everything moves, and one that understands."""

import asyncio
from typing import TYPE_CHECKING

from dormouse.adapters.embedder.choice import AbsentEmbedder, EmbedderChoice
from dormouse.adapters.embedder.onnx import MODEL as BUNDLED_MODEL
from dormouse.adapters.embedder.onnx import OnnxEmbedder
from dormouse.errors import MisconfiguredError
from dormouse.ids import WorkspaceId
from dormouse.model.workspace import Collection
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.embedder import Embedder
from dormouse.settings import EmbeddingSettings, LLMSettings

if TYPE_CHECKING:
    from dormouse.adapters.language_model.opening import LanguageModel


def language_model(settings: LLMSettings) -> "LanguageModel | None":
    if not settings.is_configured:
        return None
    # Only here: the client library takes a second to load, which nobody without a model waits for.
    from dormouse.adapters.language_model.opening import open_language_model

    return open_language_model(settings)


async def configured_embedder(
    settings: EmbeddingSettings, catalog: Catalog, workspace: WorkspaceId
) -> Embedder:
    if settings.is_configured:
        return await embedder_elsewhere(settings, catalog, workspace)
    return await asyncio.to_thread(OnnxEmbedder)


async def embedder_elsewhere(settings: EmbeddingSettings, catalog: Catalog, workspace: WorkspaceId) -> Embedder:
    from dormouse.adapters.embedder.openai import OpenAIEmbedder

    async with catalog.transaction() as tx:
        row = await tx.workspaces.ensure(workspace, workspace)
    # What is known is not asked for: a start must not need an endpoint that is away just now.
    known = {each.model: each.dimension for each in (row.collection, row.building) if each is not None}
    return await OpenAIEmbedder.open(settings, known.get(settings.model))


async def active_collection(catalog: Catalog, workspace: WorkspaceId, configured: Embedder) -> Collection:
    """The workspace's collection, made for the configured model if there is none yet."""
    async with catalog.transaction() as tx:
        row = await tx.workspaces.ensure(workspace, workspace)
        collection = row.collection or Collection("memories", configured.model, configured.dimension)
        if row.collection is None:
            await tx.workspaces.activate(workspace, collection)
        await tx.commit()
    return collection


async def embedder_choice(
    catalog: Catalog, workspace: WorkspaceId, configured: Embedder, active: Collection
) -> EmbedderChoice:
    """The configured model, and the one that made the active vectors if it is another.

    Raises `MisconfiguredError` where that one cannot be had: its vectors could not be searched.
    """
    if configured.model == active.model:
        return EmbedderChoice([configured])
    async with catalog.reading() as tx:
        building = (await tx.workspaces.get(workspace)).building
    if active.model == BUNDLED_MODEL:
        former: Embedder = await asyncio.to_thread(OnnxEmbedder)
    elif building is not None and building.model == configured.model:
        former = AbsentEmbedder(active.model, active.dimension)
    else:
        raise MisconfiguredError(
            f"these memories were embedded with {active.model}, and {configured.model} is configured: choose "
            "the former model again, or run `dormouse migrate-embedding` to embed everything with the new one",
            setting="EMBEDDING__MODEL",
        )
    return EmbedderChoice([configured, former], active.model)
