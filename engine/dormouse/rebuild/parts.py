"""A part with its vectors by a given model: as it was extracted, or as it was embedded again since."""

from dormouse.codec.part import Part, decode_part
from dormouse.errors import EmbedderUnavailableError
from dormouse.ids import BlobKey
from dormouse.ports.catalog.transaction import Catalog
from dormouse.rebuild.contents import ContentsReader, LostContentsError


class ModelParts:
    def __init__(self, catalog: Catalog, reader: ContentsReader) -> None:
        self._catalog = catalog
        self._reader = reader

    async def part(self, key: BlobKey, model: str) -> Part:
        """Raises `LostContentsError`, and `EmbedderUnavailableError` where it was not yet embedded so."""
        async with self._catalog.reading() as tx:
            again = await tx.history.vectors_of(key, model)
        part = await self._decoded(again or key)
        if part.embedder != model:
            raise EmbedderUnavailableError("this part was not yet embedded with the new model")
        return part

    async def _decoded(self, key: BlobKey) -> Part:
        try:
            return decode_part(await self._reader.blob(key))
        except ValueError as exc:
            raise LostContentsError from exc
