"""The embedding models of one process: one is active, the others are what a migration comes from or goes to."""

from collections.abc import Sequence
from typing import NoReturn

from dormouse.errors import EmbedderUnavailableError
from dormouse.ports.embedder import EmbeddedQuery, EmbeddedText, Embedder


class EmbedderChoice:
    """The first is the configured one, and active unless another is named. A model that cannot be had is stood
    in for by one that refuses."""

    def __init__(self, embedders: Sequence[Embedder], active: str | None = None) -> None:
        self._embedders = embedders
        self.configured = embedders[0]
        self.active = embedders[0] if active is None else self.of(active)

    def of(self, model: str) -> Embedder:
        for each in self._embedders:
            if each.model == model:
                return each
        raise EmbedderUnavailableError("this embedding model is not at hand")

    def use(self, model: str) -> None:
        self.active = self.of(model)

    async def close(self) -> None:
        for each in self._embedders:
            await each.close()


class AbsentEmbedder:
    """Stands for the model that made the active vectors where it cannot be had any more."""

    def __init__(self, model: str, dimension: int) -> None:
        self.model, self.dimension = model, dimension

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[EmbeddedText]:  # noqa: ARG002 - refuses all
        self._refuse()

    async def embed_query(self, text: str) -> EmbeddedQuery:  # noqa: ARG002 - refuses all
        self._refuse()

    async def close(self) -> None:
        """Nothing is held."""

    def _refuse(self) -> NoReturn:
        raise EmbedderUnavailableError(
            "the former embedding model is not at hand, and the new one not yet ready"
        )
