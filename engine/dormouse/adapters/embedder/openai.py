"""Vectors from an OpenAI-compatible endpoint: pooled ones only, so recall does without token vectors.

The dimension is learnt with one call when it is opened, unless the store knows it already; then a start does
not need the endpoint. Whatever goes wrong later may pass: writes wait, and recalls go by words meanwhile.
"""

import asyncio
import math
import random
from collections.abc import Sequence
from typing import Self

import numpy as np
import openai
from numpy.typing import NDArray

from dormouse import telemetry
from dormouse.adapters.language_model.back_off import pause_s
from dormouse.adapters.language_model.endpoint import (
    counted_tokens,
    failures_translated,
    open_client,
    retry_after_s,
)
from dormouse.errors import (
    EmbedderUnavailableError,
    MisconfiguredError,
    ModelRefusedError,
    ModelReplyMalformedError,
    ModelUnavailableError,
)
from dormouse.ports.embedder import EmbeddedQuery, EmbeddedText
from dormouse.settings import EmbeddingSettings

QUERY_TIMEOUT_S = 5.0  # whoever asks is waiting, and words alone find most
MAX_DIMENSION = 65_536

_Vectors = NDArray[np.float32]


class OpenAIEmbedder:
    """Made by `open`."""

    def __init__(self, client: openai.AsyncOpenAI, model: str, batch: int, dimension: int) -> None:
        self._client = client
        self._batch = batch
        self.model = model
        self.dimension = dimension

    @classmethod
    async def open(cls, settings: EmbeddingSettings, dimension: int | None) -> Self:
        """`dimension` None: ask. Raises `MisconfiguredError` when the endpoint does not tell it."""
        key = settings.api_key.get_secret_value()
        client = open_client(settings.base_url, key, settings.timeout_s)
        embedder = cls(client, settings.model, settings.batch, dimension or 0)
        if dimension is None:
            try:
                embedder.dimension = await embedder.learn()
            except EmbedderUnavailableError as exc:
                await embedder.close()
                raise MisconfiguredError(
                    f"{exc}; the first start with an embedding endpoint needs it, to learn how long its "
                    "vectors are",
                    setting="EMBEDDING__BASE_URL",
                ) from exc
        return embedder

    async def learn(self) -> int:
        """How long this model's vectors are. Raises `EmbedderUnavailableError`."""
        (vector,) = await self._asked_once(["How long is this vector?"])
        if not 0 < len(vector) <= MAX_DIMENSION:
            raise EmbedderUnavailableError("the embedding endpoint answered with an empty vector")
        return len(vector)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[EmbeddedText]:
        embedded: list[EmbeddedText] = []
        for start in range(0, len(texts), self._batch):
            vectors = self._unit(await self._asked(texts[start : start + self._batch]))
            embedded += [EmbeddedText(vector.astype(np.float16), b"") for vector in vectors]
        return embedded

    async def embed_query(self, text: str) -> EmbeddedQuery:
        try:
            async with asyncio.timeout(QUERY_TIMEOUT_S):
                (vector,) = self._unit(await self._asked_once([text]))
        except TimeoutError as exc:
            raise EmbedderUnavailableError("the embedding endpoint does not answer in time") from exc
        nothing = np.zeros((0, self.dimension), dtype=np.float32)
        return EmbeddedQuery(vector, nothing, nothing[:, 0])

    async def close(self) -> None:
        await self._client.close()

    async def _asked(self, texts: Sequence[str]) -> list[list[float]]:
        attempt = 1
        while True:
            try:
                return await self._asked_once(texts)
            except EmbedderUnavailableError as exc:
                cause = exc.__cause__
                wait_s = pause_s(attempt, retry_after_s(cause and cause.__cause__), random.random())  # noqa: S311
                if wait_s is None or not isinstance(cause, ModelUnavailableError):
                    raise
            attempt += 1
            await asyncio.sleep(wait_s)

    async def _asked_once(self, texts: Sequence[str]) -> list[list[float]]:
        sound = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        try:
            with telemetry.chat(self.model, "embeddings") as seen, failures_translated("EMBEDDING"):
                answer = await self._client.embeddings.create(
                    model=self.model, input=sound, encoding_format="float"
                )
                found = sorted(answer.data, key=lambda each: each.index)
                if [each.index for each in found] != list(range(len(sound))):
                    raise ValueError("a vector for each text, in order")
                vectors = [[float(number) for number in each.embedding] for each in found]
                seen.tokens_in = counted_tokens(getattr(answer, "usage", None), "prompt_tokens") or 0
        except (ModelUnavailableError, ModelRefusedError, ModelReplyMalformedError) as exc:
            # A wrong key can be put right too: nothing that waits for it is lost.
            raise EmbedderUnavailableError(str(exc).replace("the model's", "the embedding")) from exc
        return vectors

    def _unit(self, vectors: Sequence[Sequence[float]]) -> _Vectors:
        """Raises `EmbedderUnavailableError`: a NaN would rank first in every query, a zero nowhere."""
        if any(len(vector) != self.dimension for vector in vectors):
            raise EmbedderUnavailableError("the embedding endpoint changed the length of its vectors")
        rows = np.asarray(vectors, dtype=np.float64)
        lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
        if not math.isfinite(float(lengths.sum())) or not lengths.all():
            raise EmbedderUnavailableError("the embedding endpoint answered with numbers that are not finite")
        return np.asarray(rows / lengths, dtype=np.float32)
