"""A part with its vectors by a given model: as it was extracted, or as it was embedded again since.

What was embedded again is a blob beside the part, named by a row: a later rebuild finds it, and a forget takes
it along. Terms and extractions do not depend on the model and stay as they are.
"""

from collections.abc import Sequence
from dataclasses import replace

from dormouse.codec.part import Part, decode_part, encode_part
from dormouse.errors import EmbedderUnavailableError
from dormouse.ids import BlobKey, JobId
from dormouse.model.change import Change
from dormouse.model.job import PartRow
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.embedder import EmbeddedText, Embedders
from dormouse.rebuild.contents import ContentsReader, LostContentsError


class ModelParts:
    def __init__(self, catalog: Catalog, blobs: BlobStore, embedders: Embedders) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._reader = ContentsReader(blobs)
        self._embedders = embedders

    async def part(self, key: BlobKey, model: str) -> Part:
        """Raises `LostContentsError`, and `EmbedderUnavailableError` where it was not yet embedded so."""
        async with self._catalog.reading() as tx:
            again = await tx.history.vectors_of(key, model)
        part = await self._decoded(again or key)
        if part.embedder != model:
            raise EmbedderUnavailableError("this part was not yet embedded with the new model")
        return part

    async def active_part(self, change: Change) -> Part:
        """For applying: a part that was extracted before a migration ended is embedded again right then."""
        assert change.blob is not None
        model = self._embedders.active.model
        try:
            return await self.part(change.blob, model)
        except EmbedderUnavailableError:
            return await self.embed(change, model)

    async def embed(self, change: Change, model: str) -> Part:
        """Embed the change's part with this model and keep it; what is kept already is not computed again.

        Raises `LostContentsError` and `UnavailableError`.
        """
        assert change.blob is not None
        try:
            return await self.part(change.blob, model)
        except EmbedderUnavailableError:
            part = await self._decoded(change.blob)
        texts = [each.indexed_text for each in part.passages]  # none where a model had nothing to say
        found = await self._embedders.of(model).embed_passages(texts) if texts else ()
        again = _with(part, model, found)
        blob = await self._blobs.put(change.workspace, change.job, encode_part(again))
        async with self._catalog.transaction() as tx:
            is_there = await tx.history.unerased([change.document] if change.document else [])
            # Nothing names a part once the memory of its item was forgotten.
            if is_there and await tx.blobs.named([change.blob]):
                await tx.history.keep_vectors(_row(change.job, part, change.blob), model, blob)
                await tx.commit()
        return again

    async def _decoded(self, key: BlobKey) -> Part:
        try:
            return decode_part(await self._reader.blob(key))
        except ValueError as exc:
            raise LostContentsError from exc


def _with(part: Part, model: str, found: Sequence[EmbeddedText]) -> Part:
    vectors = tuple(
        replace(former, dense=new.dense, tokens=new.tokens)
        for former, new in zip(part.vectors, found, strict=True)
    )
    return replace(part, embedder=model, vectors=vectors)


def _row(job: JobId, part: Part, blob: BlobKey) -> PartRow:
    return PartRow(job, part.index, blob, len(part.passages))
