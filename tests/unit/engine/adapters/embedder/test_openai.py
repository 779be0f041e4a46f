"""The real client library over a transport that answers in the process; the loop's clock is virtual."""

import asyncio
import json
from collections.abc import Callable, Sequence

import httpx
import numpy as np
import pytest

from dormouse.adapters.embedder.openai import QUERY_TIMEOUT_S, OpenAIEmbedder
from dormouse.adapters.language_model.endpoint import open_client
from dormouse.errors import EmbedderUnavailableError

pytestmark = pytest.mark.virtual_time


class Endpoint(httpx.AsyncBaseTransport):
    def __init__(self, vectors: Callable[[Sequence[str]], list[list[float]]], failures: int = 0) -> None:
        self._vectors, self._failures = vectors, failures
        self.asked: list[list[str]] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        texts = json.loads(request.content)["input"]
        self.asked.append(texts)
        if len(self.asked) <= self._failures:
            return httpx.Response(503, json={"error": {"message": "busy"}})
        data = [
            {"object": "embedding", "index": at, "embedding": vector}
            for at, vector in enumerate(self._vectors(texts))
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        body = {"object": "list", "model": "e", "data": data[::-1], "usage": usage}
        return httpx.Response(200, content=json.dumps(body), headers={"Content-Type": "application/json"})

    def embedder(self, dimension: int = 2, batch: int = 2) -> OpenAIEmbedder:
        client = open_client("http://embed.test/v1", "", 30.0, transport=self)
        return OpenAIEmbedder(client, "e", batch, dimension)


def by_length(texts: Sequence[str]) -> list[list[float]]:
    return [[float(len(text)), 0.0] for text in texts]


async def test_passages_go_in_batches_and_come_back_in_order_at_unit_length() -> None:
    endpoint = Endpoint(lambda texts: [[len(text), 1.0] for text in texts])

    embedded = await endpoint.embedder().embed_passages(["a", "bb", "ccc"])

    assert endpoint.asked == [["a", "bb"], ["ccc"]]
    assert [each.tokens for each in embedded] == [b""] * 3
    assert [round(float(each.dense[0] / each.dense[1])) for each in embedded] == [1, 2, 3]
    assert all(abs(float(np.linalg.norm(each.dense.astype(np.float32))) - 1) < 1e-3 for each in embedded)


async def test_a_query_has_no_token_vectors() -> None:
    query = await Endpoint(by_length).embedder().embed_query("where")

    assert query.dense.tolist() == [1.0, 0.0]
    assert (query.tokens.shape, query.token_weights.shape) == ((0, 2), (0,))


async def test_the_dimension_is_learnt_with_one_call() -> None:
    endpoint = Endpoint(lambda texts: [[0.5] * 7 for _ in texts])

    assert await endpoint.embedder(0).learn() == 7
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize(
    "body",
    [
        "{}",
        "[" * 100_000,
        '{"data": null}',
        '{"data": [7]}',
        '{"data": [{"index": null, "embedding": [1, 0]}, {"index": "a"}]}',
        '{"data": [{"index": 0, "embedding": null}]}',
        '{"data": [{"index": 0, "embedding": [{}, 0]}]}',
        '{"data": [{"index": 0, "embedding": [1' + "0" * 400 + ", 0]}]}",
    ],
    ids=lambda body: body[:60],
)
async def test_an_answer_of_another_shape_is_trouble_of_the_endpoint(body: str) -> None:
    answers = httpx.MockTransport(
        lambda _: httpx.Response(200, text=body, headers={"Content-Type": "application/json"})
    )
    client = open_client("http://embed.test/v1", "", 30.0, transport=answers)

    with pytest.raises(EmbedderUnavailableError):
        await OpenAIEmbedder(client, "e", 2, 2).embed_query("where")


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 0.0])
async def test_a_vector_that_would_spoil_every_ranking_is_refused(wrong: float) -> None:
    with pytest.raises(EmbedderUnavailableError):
        await Endpoint(lambda texts: [[wrong, wrong] for _ in texts]).embedder().embed_passages(["a"])


async def test_vectors_of_another_length_are_refused() -> None:
    with pytest.raises(EmbedderUnavailableError, match="length"):
        await Endpoint(by_length).embedder(dimension=3).embed_passages(["a"])


async def test_fewer_vectors_than_texts_are_refused() -> None:
    with pytest.raises(EmbedderUnavailableError):
        await Endpoint(lambda _texts: [[1.0, 0.0]]).embedder().embed_passages(["a", "b"])


async def test_passages_wait_for_a_busy_endpoint_and_a_query_does_not() -> None:
    assert len(await Endpoint(by_length, failures=2).embedder().embed_passages(["a"])) == 1
    with pytest.raises(EmbedderUnavailableError):
        await Endpoint(by_length, failures=1).embedder().embed_query("a")


async def test_a_hanging_endpoint_costs_a_query_seconds() -> None:
    class Hanging(Endpoint):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            await asyncio.Event().wait()
            raise AssertionError("never")

    with pytest.raises(EmbedderUnavailableError):
        await Hanging(by_length).embedder().embed_query("a")

    assert asyncio.get_running_loop().time() == QUERY_TIMEOUT_S
