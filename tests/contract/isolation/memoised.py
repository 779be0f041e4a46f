"""The bundled model, asked once for each text: what it answers is its own, and the rest of the time is ours."""

from collections.abc import Sequence

from dormouse.ports.embedder import EmbeddedQuery, EmbeddedText, Embedder


class MemoisedEmbedder:
    def __init__(self, real: Embedder) -> None:
        self._real = real
        self._passages: dict[str, EmbeddedText] = {}
        self._queries: dict[str, EmbeddedQuery] = {}

    @property
    def model(self) -> str:
        return self._real.model

    @property
    def dimension(self) -> int:
        return self._real.dimension

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[EmbeddedText]:
        new = sorted(set(texts) - self._passages.keys())
        if new:
            self._passages.update(zip(new, await self._real.embed_passages(new), strict=True))
        return [self._passages[text] for text in texts]

    async def embed_query(self, text: str) -> EmbeddedQuery:
        if text not in self._queries:
            self._queries[text] = await self._real.embed_query(text)
        return self._queries[text]

    async def close(self) -> None:
        """The suite closes the real one."""
